import { expect } from 'chai';
import { createOperator } from '../../../src/operator/operator.ts';
import type { Operator } from '../../../src/operator/operator.ts';
import type { ResourceSource } from '../../../src/operator/sources/types.ts';
import type { Timers } from '../../../src/operator/timers.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { createInMemoryRuntime } from '../../support/operator/in-memory-runtime.ts';
import { startInternalApiPeer } from '../../support/operator/internal-api-peer.ts';
import type { InternalApiPeer } from '../../support/operator/internal-api-peer.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';

const NOWHERE = 'http://127.0.0.1:1';

/** A clock that stands still, and what is put off by it. */
function createWatchedClock(): Timers & { armed: Set<object> } {
  const clock = createManualClock();
  const armed = new Set<object>();
  return {
    armed,
    now: () => clock.now(),
    schedule(delayMs, callback) {
      const mark = {};
      armed.add(mark);
      const cancel = clock.schedule(delayMs, callback);
      return () => {
        armed.delete(mark);
        cancel();
      };
    },
  };
}

describe('an operator that is stopped while it starts', () => {
  let api: InternalApiPeer;
  let clock: ReturnType<typeof createWatchedClock>;
  let listing: PromiseWithResolvers<void>;
  let isReconciled: boolean;

  beforeEach(async () => {
    api = await startInternalApiPeer();
    clock = createWatchedClock();
    listing = Promise.withResolvers();
    isReconciled = false;
  });
  afterEach(() => api.close());

  function build(baseUrl = api.baseUrl): Operator {
    const source = {
      start: () => listing.promise,
      // As a source that follows a cluster does.
      stop: async () => listing.reject(new Error('The watch was stopped')),
    } satisfies Partial<ResourceSource> as unknown as ResourceSource;
    const operator = createOperator({
      ...{ source, clock, runtime: createInMemoryRuntime(), logger: silentLogger },
      internalApi: { baseUrl, token: api.token },
      publicBaseUrl: 'http://127.0.0.1:8080',
    });
    void operator.reconciled.then(() => (isReconciled = true));
    return operator;
  }

  async function expectEnd(operator: Operator, started: Promise<void>): Promise<void> {
    await operator.stop();
    await started;
    expect(clock.armed.size).to.equal(0);
    expect(isReconciled).to.be.false;
  }

  it('ends in order while it lists, and begins with nothing', async () => {
    const operator = build();
    await expectEnd(operator, operator.start());
    expect(api.requests).to.be.empty;
  });

  it('begins with nothing where the list comes after all', async () => {
    const operator = build();
    const started = operator.start();
    const stopped = operator.stop();
    listing.resolve();
    await Promise.all([started, stopped]);
    expect(clock.armed.size).to.equal(0);
    expect(api.requests).to.be.empty;
  });

  it('does not wait for the API any more', async () => {
    listing.resolve();
    const operator = build(NOWHERE);
    const started = operator.start();
    await eventually(() => expect(clock.armed.size).to.be.greaterThan(0));
    await expectEnd(operator, started);
  });

  it('does not wait for tenants that are not declared yet, and looks at nothing later on', async () => {
    listing.resolve();
    api.refuse = () => ({ status: 503, body: { title: 'Service Unavailable', status: 503 } });
    const operator = build();
    const started = operator.start();
    await eventually(() => expect(api.requests.some((request) => request.includes('tenants/'))).to.be.true);
    await expectEnd(operator, started);
  });

  it('still says why it could not list', async () => {
    const operator = build();
    const started = operator.start();
    listing.reject(new Error('forbidden'));
    const error = await started.catch((reason: unknown) => reason);
    expect(error).to.be.an('error').with.property('message', 'forbidden');
    await operator.stop();
  });
});

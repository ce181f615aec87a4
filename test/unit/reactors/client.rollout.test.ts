import { expect } from 'chai';
import { createReactorClient } from '../../../src/reactors/client.ts';
import type { ReactorClient } from '../../../src/reactors/client.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';
import { eventually } from '../../support/eventually.ts';
import { createLocalInstances, type LocalInstance, RETURNED } from '../../support/local-instances.ts';

const IDS = { tenantId: 't', reactorId: 'r' };
const OVERLAP_MS = 60_000;

describe('the client of reactors, while code or configuration change', () => {
  const instances = createLocalInstances();
  let client: ReactorClient;
  let changedAt: number;
  beforeEach(() => {
    client = createReactorClient({ maxWaitMs: 300, overlapMs: OVERLAP_MS });
    changedAt = Date.now();
  });
  afterEach(async () => {
    await client.stop();
    instances.close();
  });

  const put = (...locals: LocalInstance[]): void =>
    client.instances.replace(
      't',
      'r',
      locals.map(({ instance }) => instance),
    );
  const invoke = (revision: string, revisedAt = changedAt): Promise<InvocationOutcome> =>
    client.invoke({ ...IDS, revision, revisedAt, args: null, traceId: 'trace', timeoutMs: 1_000 });
  /** Never answers until it is told to, so that it is full. */
  function held() {
    const { promise, resolve } = Promise.withResolvers<InvocationOutcome>();
    return { answer: () => promise, release: () => resolve(RETURNED) };
  }

  it('goes on with what runs until an instance of the new revision is there, and then with that alone', async () => {
    const former = await instances.start('r1');
    put(former);
    expect(await invoke('r2')).to.deep.equal(RETURNED);
    expect(former.requests.map(({ revision }) => revision)).to.deep.equal(['r1']);
    const next = await instances.start('r2');
    put(former, next);
    await Promise.all([invoke('r2'), invoke('r2'), invoke('r2')]);
    expect([former.requests.length, next.requests.length]).to.deep.equal([1, 3]);
  });

  it('keeps what was there for what the new instances cannot take, until there are as many of them', async () => {
    const formers = await Promise.all([instances.start('r1'), instances.start('r1')]);
    put(...formers);
    await invoke('r2');
    const taken = () => formers.reduce((sum, { requests }) => sum + requests.length, 0);
    const full = held();
    const next = await instances.start('r2', full.answer);
    put(...formers, next);
    const first = invoke('r2');
    await eventually(() => void expect(next.requests).to.have.length(1));
    expect(await invoke('r2')).to.deep.equal(RETURNED);
    expect([next.requests.length, taken()]).to.deep.equal([1, 2]);
    const second = await instances.start('r2', full.answer);
    put(...formers, next, second);
    const both = [first, invoke('r2')];
    expect(await invoke('r2')).to.deep.equal({ kind: 'unavailable' });
    expect(taken()).to.equal(2);
    full.release();
    await Promise.all(both);
  });

  it('uses nothing of before once the change is long ago', async () => {
    const former = await instances.start('r1');
    put(former);
    expect(await invoke('r2', changedAt - OVERLAP_MS)).to.deep.equal({ kind: 'unavailable' });
    expect(former.requests).to.be.empty;
  });

  it('stops using what was before when its time is over, whatever became of the new one', async () => {
    const former = await instances.start('r1');
    put(former);
    const lateness = OVERLAP_MS - 300;
    expect(await invoke('r2', changedAt - lateness)).to.deep.equal(RETURNED);
    await eventually(async () =>
      expect(await invoke('r2', changedAt - lateness)).to.deep.equal({ kind: 'unavailable' }),
    );
  });

  it('does not count the time anew where something else of the reactor changes meanwhile', async () => {
    const former = await instances.start('r1');
    put(former);
    await invoke('r2', changedAt - OVERLAP_MS + 100);
    await eventually(async () => expect(await invoke('r2', changedAt)).to.deep.equal({ kind: 'unavailable' }));
  });

  it('starts none of before that comes back after it was none', async () => {
    const outcome = invoke('r2');
    const former = await instances.start('r1');
    put(former);
    expect(await outcome).to.deep.equal({ kind: 'unavailable' });
    expect(former.requests).to.be.empty;
  });

  it('runs an invocation that was made before the change with what came of it', async () => {
    const stale = invoke('r1', changedAt - 1_000);
    const next = await instances.start('r2');
    put(next);
    const fresh = invoke('r2');
    expect(await Promise.all([stale, fresh])).to.deep.equal([RETURNED, RETURNED]);
    expect(next.requests.map(({ revision }) => revision)).to.deep.equal(['r2', 'r2']);
  });

  it('takes back a change without a wait, where what was before is still there', async () => {
    const former = await instances.start('r1');
    put(former);
    await invoke('r2');
    expect(await invoke('r1', changedAt + 1)).to.deep.equal(RETURNED);
  });

  describe('asked to wait for it', () => {
    const rolledOut = (maxMs = 10_000, signal?: AbortSignal): Promise<void> =>
      client.rolledOut({ ...IDS, revision: 'r2', revisedAt: changedAt }, maxMs, signal);

    async function isPending(promise: Promise<void>): Promise<boolean> {
      return Promise.race([promise.then(() => false), new Promise<true>((resolve) => setTimeout(resolve, 50, true))]);
    }

    it('waits until an instance of the new revision is there', async () => {
      const former = await instances.start('r1');
      put(former);
      const waits = rolledOut();
      expect(await isPending(waits)).to.equal(true);
      put(former, await instances.start('r2'));
      await waits;
    });

    it('waits for nothing where nothing runs, or the new revision does', async () => {
      await rolledOut();
      put(await instances.start('r1'), await instances.start('r2'));
      await rolledOut();
    });

    it('gives up after its time, with its signal, and when the client is stopped', async () => {
      put(await instances.start('r1'));
      await rolledOut(20);
      const left = new AbortController();
      const waits = [rolledOut(60_000, left.signal), rolledOut(60_000)] as const;
      left.abort();
      await waits[0];
      expect(await isPending(waits[1])).to.equal(true);
      await client.stop();
      await waits[1];
    });
  });
});

import { expect } from 'chai';
import type { StoredDataKey } from '../../../src/domain/data-keys.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { DEFAULT_DATA_KEY_LIMITS } from '../../../src/keys/data-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { watchKeyManagement, type KeyWatch } from '../../../src/keys/key-watch.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { eventually } from '../../support/eventually.ts';

const ADDRESS = 'https://vault.internal.example:8200';
const SAMPLE: StoredDataKey = {
  ...{ tenantId: 'tenant', id: 'sample', purpose: 'data', wrapped: 'vault:v1:sample', uses: 0, destroyAt: null },
  createdAt: new Date(0),
};

/** Key management that is away, holds another master key, or refuses single operations, as a test says. */
function switchable() {
  const state = { away: false, foreign: false, refusesToMake: false, pings: 0 };
  const away = (): DomainError => new DomainError('unavailable', `Vault at ${ADDRESS} is sealed: unseal it`);
  const not = async (): Promise<never> => Promise.reject(new Error('not used here'));
  const management: KeyManagement = {
    name: 'vault',
    async createDataKey() {
      if (state.away || state.refusesToMake) throw away();
      return { plaintext: Buffer.alloc(32), wrapped: 'vault:v1:new' };
    },
    async unwrapDataKey(_master, _tenantId, wrapped) {
      if (state.away) throw away();
      if (state.foreign || wrapped === 'altered') throw new Error('does not unwrap');
      return Buffer.alloc(32, 7);
    },
    async ping() {
      state.pings++;
      if (state.away) throw away();
    },
    ...{ wrapDataKey: not, rewrapDataKey: not, versions: not, rotate: not, retire: not, authenticate: not },
    ...{ verifies: not, close: async () => undefined },
  };
  return { state, management };
}

async function failureOf(work: Promise<unknown>): Promise<DomainError> {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).to.be.instanceOf(DomainError);
  return error as DomainError;
}

describe('the watch on key management', () => {
  const { state, management } = switchable();
  let [now, lines]: [number, string[]] = [0, []];
  let samples: StoredDataKey[] = [];
  let watch: KeyWatch;
  let metrics = createMetrics();

  const up = async (): Promise<number> =>
    (await metrics.registry.getSingleMetric('tokenkeep_key_management_up')!.get()).values[0]!.value;
  const messages = (): string[] => lines.map((line) => (JSON.parse(line) as { message: string }).message);

  beforeEach(() => {
    Object.assign(state, { away: false, foreign: false, refusesToMake: false, pings: 0 });
    [now, lines, samples, metrics] = [1_000_000, [], [SAMPLE], createMetrics()];
    watch = watchKeyManagement({
      ...{ management, metrics, samples: async () => samples, cacheTtlMs: 300_000, clock: { now: () => now } },
      logger: createLogger({ level: 'info', format: 'json', destination: { write: (line) => lines.push(line) } }),
      intervals: { up: 20, down: 5, fresh: 0 },
    });
  });
  afterEach(() => watch.stop());

  it('keeps data keys, and with them readiness, for five minutes unless told otherwise', () => {
    expect(DEFAULT_DATA_KEY_LIMITS.cacheTtlMs).to.equal(5 * 60_000);
  });

  it('lets the process be ready while data keys can be unwrapped', async () => {
    expect(await watch.check()).to.equal(undefined);
    expect(await up()).to.equal(1);
    expect(lines).to.deep.equal([]);
  });

  it('is degraded for as long as a key may be in memory, then fails, and heals by itself', async () => {
    watch.start();
    expect(await watch.check()).to.equal(undefined);
    state.away = true;
    now += 200_000;
    await eventually(async () => expect(await watch.check()).to.equal('degraded'));
    expect(await up()).to.equal(0);
    now += 299_999 - 200_000;
    expect(await watch.check()).to.equal('degraded');
    now += 201_000;
    await failureOf(Promise.resolve(watch.check()));
    state.away = false;
    await eventually(async () => expect(await watch.check()).to.equal(undefined));
    expect(await up()).to.equal(1);
  });

  it('says once that key management is away, why, and once that it is back', async () => {
    watch.start();
    await watch.check();
    state.away = true;
    now += 10_000;
    await eventually(async () => expect(await watch.check()).to.equal('degraded'));
    const before = state.pings;
    await eventually(() => expect(state.pings).to.be.above(before + 3));
    state.away = false;
    now += 30_000;
    await eventually(async () => expect(await watch.check()).to.equal(undefined));
    expect(messages()).to.deep.equal([
      'Key management cannot be used; only data keys that are in memory serve, for a while',
      'Key management can be used again',
    ]);
    expect(lines[0]).to.include('unseal it').and.to.include('"servesForSeconds":290');
    expect(lines[1]).to.include('"downForSeconds":30');
  });

  it('is not ready from the start where key management never answered, until it does', async () => {
    state.away = true;
    watch.start();
    await failureOf(Promise.resolve(watch.check()));
    expect(lines[0]).to.include('"servesForSeconds":0');
    state.away = false;
    await eventually(async () => expect(await watch.check()).to.equal(undefined));
  });

  it('tells callers nothing of where key management is, and keeps the reason for the log', async () => {
    state.away = true;
    for (const work of [
      watch.management.createDataKey('tokens', 'tenant'),
      watch.management.unwrapDataKey('tokens', 'tenant', 'vault:v1:any'),
    ]) {
      const { kind, message, cause } = await failureOf(work);
      expect([kind, message]).to.deep.equal([
        'unavailable',
        'Key management is unavailable: what needs a key that is not in memory cannot be done now.',
      ]);
      expect((cause as Error).message).to.include(ADDRESS);
    }
  });

  it('looks at once when a request fails, and lets the look decide', async () => {
    await watch.check();
    const asked = state.pings;
    state.refusesToMake = true;
    await failureOf(watch.management.createDataKey('tokens', 'tenant'));
    await eventually(() => expect(state.pings).to.equal(asked + 1));
    expect(await watch.check()).to.equal(undefined);
    state.away = true;
    await failureOf(watch.management.unwrapDataKey('tokens', 'tenant', 'vault:v1:any'));
    await eventually(async () => expect(await watch.check()).to.equal('degraded'));
  });

  it('does not ask while requests show that key management works', async () => {
    watch.start();
    await eventually(() => expect(state.pings).to.equal(1));
    for (let look = 0; look < 10; look++) {
      now += 20;
      await watch.management.unwrapDataKey('tokens', 'tenant', 'vault:v1:any');
    }
    expect(state.pings).to.equal(1);
  });

  describe('over a master key that is not the one of this vault', () => {
    it('is away, says so, and makes no data key that would be lost', async () => {
      state.foreign = true;
      const made = await failureOf(watch.management.createDataKey('tokens', 'new tenant'));
      expect(made.kind).to.equal('unavailable');
      await failureOf(Promise.resolve(watch.check()));
      expect(lines[0]).to.include('its master key is not the one that wrapped the data keys of this vault');
    });

    it('takes no data key for altered', async () => {
      await watch.check();
      state.foreign = true;
      const error = await failureOf(watch.management.unwrapDataKey('tokens', 'tenant', 'vault:v1:any'));
      expect(error.kind).to.equal('unavailable');
    });
  });

  it('takes a data key for altered where another one unwraps', async () => {
    samples = [{ ...SAMPLE, wrapped: 'altered' }, SAMPLE];
    const error = await watch.management
      .unwrapDataKey('tokens', 'tenant', 'altered')
      .catch((caught: unknown) => caught as Error);
    expect(error).to.be.instanceOf(Error).and.not.to.be.instanceOf(DomainError);
    expect(await watch.check()).to.equal(undefined);
  });

  it('needs no data key to look at, and no Postgres', async () => {
    samples = [];
    expect(await watch.check()).to.equal(undefined);
    expect(await watch.management.createDataKey('tokens', 'tenant')).to.have.property('wrapped');
    const blind = watchKeyManagement({
      ...{ management, metrics: createMetrics(), cacheTtlMs: 1, clock: { now: () => now } },
      samples: () => Promise.reject(new DomainError('unavailable', 'Postgres is unreachable')),
      logger: createLogger({ level: 'silent', format: 'json' }),
    });
    expect(await blind.check()).to.equal(undefined);
  });
});

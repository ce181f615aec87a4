import { tryAdvisoryLock } from '../../src/data/advisory-lock.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { KEYS_TURN } from '../../src/services/key-rotation/parts.ts';
import { rewrap, rewrapAndRetire } from '../../src/services/key-rotation/rewrap.ts';
import { rotate } from '../../src/services/key-rotation/rotate.ts';
import { KEY_MANAGEMENTS } from '../support/key-managements.ts';
import { startTestPostgres, stopTestPostgres } from '../support/postgres.ts';
import { startReplica } from '../support/replica.ts';
import { plantDataKeys, startLoad } from '../support/rotation-load.ts';
import { stopTransitServer } from '../support/transit-server.ts';
import { startTestVault } from '../support/vault.ts';

const PLANTED = { tenants: 250, keysOfEach: 20 };
/** Short, so that keys are unwrapped all the time. */
const dataKeyLimits = { cacheTtlMs: 200 };
const RULES = [
  {
    description: 'all',
    priority: 1,
    container: '/',
    transform: 'reveal' as const,
    permissions: ['token:create' as const, 'token:read' as const],
  },
];

/** What stands in for a test where there is none to skip. */
const context = {
  timeout: () => undefined,
  skip: () => {
    throw new Error('what is needed is not there');
  },
} as unknown as Parameters<(typeof KEY_MANAGEMENTS)[number]['create']>[0];

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const began = performance.now();
  const result = await work();
  return [result, (performance.now() - began) / 1000];
}

// How fast data keys are rewrapped, alone and beside readers and writers on two replicas, and what those notice of it.
await startTestPostgres();
console.log('| key management | step | data keys | s | data keys/s | reads/s | writes/s | failures |');
console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const { name, create } of KEY_MANAGEMENTS) {
  const keys = await create(context);
  const [management, custodian] = [await keys.open(), await keys.openAsCustodian()];
  const vault = await startTestVault({ keyManagement: await keys.open(), dataKeyLimits });
  const replica = await startReplica(
    vault,
    vault.apiConnectionString,
    {},
    { keyManagement: management, dataKeyLimits },
  );
  const { key } = await vault.application({ rules: RULES });
  await plantDataKeys(vault.database, management, PLANTED);
  const takeTurn = () => tryAdvisoryLock(vault.connectionString, KEYS_TURN);
  const parts = { database: vault.database, management: custodian, takeTurn };
  const row = (cells: (string | number)[]): void => console.log(`| ${name} | ${cells.join(' | ')} |`);
  const perSecond = (count: number, seconds: number): string => (count / seconds).toFixed(0);

  await rotate({ ...parts, clock: systemClock }, { dataKeys: true });
  const [alone, seconds] = await timed(() => rewrap(parts));
  row(['rewrap, alone', alone.replaced, seconds.toFixed(1), perSecond(alone.replaced, seconds), '', '', '']);

  const quiet = startLoad([vault.baseUrl, replica.baseUrl], key);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const before = await quiet.stop();
  const rates = (load: typeof before): string[] => [
    perSecond(load.reads, load.seconds),
    perSecond(load.writes, load.seconds),
    String(load.failures.length),
  ];
  row(['none', '', before.seconds.toFixed(1), '', ...rates(before)]);

  await rotate({ ...parts, clock: systemClock }, { dataKeys: true });
  const load = startLoad([vault.baseUrl, replica.baseUrl], key);
  const [retired, busySeconds] = await timed(() => rewrapAndRetire(parts));
  const during = await load.stop();
  const speed = perSecond(retired.replaced, busySeconds);
  row(['rewrap and retire', retired.replaced, busySeconds.toFixed(1), speed, ...rates(during)]);
  await replica.stop();
  await vault.stop();
  await keys.dispose();
}
await stopTransitServer();
await stopTestPostgres();

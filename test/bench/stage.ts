import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../src/data/embedded/postgres.ts';
import { silentLogger } from '../../src/platform/logger.ts';
import { startStandalone } from '../support/standalone.ts';
import { randomCard } from './cards.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { connectPlainPostgres, type PlainPostgres } from './plain-postgres.ts';

/** Everything that scenarios measure, each in processes of its own. */
export interface Stage extends AsyncDisposable {
  readonly vault: HttpClient;
  /** The process that serves `vault`. */
  readonly vaultPid: number;
  readonly echo: HttpClient;
  readonly postgres: PlainPostgres;
  /** The declared reactor. */
  readonly reactorId: string;
}

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

async function startEcho(): Promise<{ client: HttpClient; stop: () => void }> {
  const child = fork(file('./echo-server.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const [port] = (await once(child, 'message')) as [number];
  return { client: createHttpClient(`http://127.0.0.1:${port}`, 'none'), stop: () => void child.disconnect() };
}

async function layManifests(folder: string): Promise<string> {
  const manifests = join(folder, 'manifests');
  await cp(file('./manifests'), manifests, { recursive: true });
  await cp(file('../../config/samples/reactors.yaml'), join(manifests, 'reactors.yaml'));
  return manifests;
}

/** Starts the real program over a Postgres of its own, as durable as it always is. */
export async function setStage(connections: number): Promise<Stage> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-bench-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  // As root, Postgres runs under another account, which must reach its files.
  await chmod(folder, 0o711);
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), logger: silentLogger });
  undo.defer(() => server.stop());
  const program = await startStandalone({
    dataDir: join(folder, 'vault'),
    manifests: await layManifests(folder),
    flags: ['--database-url', server.connectionString, '--log-level', 'warn', '--ip-rate-limits', 'off'],
  });
  undo.defer(async () => void (await program.stop()));
  const vault = createHttpClient(program.baseUrl, await program.keyOf('payments'));
  undo.defer(() => vault.close());
  const admin = createHttpClient(program.baseUrl, await program.keyOf('admin'));
  undo.defer(() => admin.close());
  const reactors = await admin.send('GET', '/reactors', { status: 200 });
  await vault.send('POST', '/tokens', { status: 201, body: { type: 'card', data: randomCard() } });
  const postgres = await connectPlainPostgres(server.connectionString, connections);
  undo.defer(() => postgres.close());
  const echo = await startEcho();
  undo.defer(() => echo.stop());
  undo.defer(() => echo.client.close());
  const all = undo.move();
  return {
    ...{ vault, vaultPid: program.pid, postgres, echo: echo.client },
    reactorId: reactors.data[0].id as string,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

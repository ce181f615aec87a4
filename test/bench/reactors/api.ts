import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createStandaloneFolder } from '../../support/standalone-folder.ts';
import { startStandalone } from '../../support/standalone.ts';
import { createHttpClient } from '../http-client.ts';
import type { Contestant } from './contestant.ts';
import { CODE, type Task } from './task.ts';

const VAULT = new URL('../manifests/vault.yaml', import.meta.url);

export interface Api extends Contestant {
  readonly pid: number;
  /** Calls a reactor that has no instance yet, for which there are as many as were asked for. */
  runFromZero(task: Task): Promise<unknown>;
}

/** The real program: `POST /react`, with access rules, audit entries and the reactor's own row on the way. */
export async function startApi(concurrency: number, fromZero: number): Promise<Api> {
  await using undo = new AsyncDisposableStack();
  const folder = await createStandaloneFolder();
  undo.defer(() => folder.dispose());
  await folder.write('vault.yaml', await readFile(VAULT, 'utf8'));
  const warm = { minReplicas: 1, maxReplicas: 1, concurrency };
  const reactor = (name: string, scaling: object) => ({
    ...{ kind: 'Reactor', name },
    spec: { displayName: name, code: CODE, scaling },
  });
  const resting = Array.from({ length: fromZero }, () => `resting-${randomUUID()}`);
  await folder.write('reactors.yaml', [
    reactor('warm', warm),
    ...resting.map((name) => reactor(name, { minReplicas: 0 })),
  ]);
  const flags = ['--log-level', 'warn', '--ip-rate-limits', 'off'];
  const program = await startStandalone({ ...folder, flags });
  undo.defer(async () => void (await program.stop()));
  const caller = createHttpClient(program.baseUrl, await program.keyOf('payments'));
  undo.defer(() => caller.close());
  const admin = createHttpClient(program.baseUrl, await program.keyOf('admin'));
  undo.defer(() => admin.close());
  const { data } = await admin.send('GET', '/reactors?size=100', { status: 200 });
  const ids = new Map((data as { id: string; name: string }[]).map(({ id, name }) => [name, id]));
  const react = (name: string, args: object): Promise<unknown> =>
    caller.send('POST', `/reactors/${ids.get(name)}/react`, { status: 200, body: { args } });
  const all = undo.move();
  return {
    name: 'reactor, by POST /react',
    pid: program.pid,
    run: (args) => react('warm', args),
    runFromZero: ({ args }) => react(resting.pop()!, args),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

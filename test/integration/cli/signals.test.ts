import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { MAIN } from '../../support/kubectl/stage.ts';

/** Far less than what a server takes at most, on however slow a machine. */
const PROMPT_MS = 5_000;

interface Waiting {
  readonly command: readonly string[];
  /** Resolves once the command waits for something that never comes. */
  readonly begun: (child: ChildProcess) => Promise<unknown>;
}

describe('a command that a signal interrupts', function () {
  this.timeout(60_000);
  let silent: Server;
  let folder: string;
  let env: Record<string, string>;
  let database: string[];
  const sockets = new Set<Socket>();
  const children = new Set<ChildProcess>();

  before(async () => {
    silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    database = ['--database-url', `postgres://owner@127.0.0.1:${port}/vault`];
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-signals-'));
    const kubeconfig = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
      clusters: [{ name: 'a', cluster: { server: `https://127.0.0.1:${port}` } }],
      users: [{ name: 'a', user: { token: 'none' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    };
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
    env = { KUBECONFIG: join(folder, 'kubeconfig'), TOKENKEEP_API_KEY: 'none', VAULT_TOKEN: 'none' };
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const socket of sockets) socket.destroy();
    silent?.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  const atServer = (...command: string[]): Waiting => ({ command, begun: () => once(silent, 'connection') });
  const commands: Record<string, () => Waiting> = {
    migrate: () => atServer('migrate', ...database),
    'keys status': () => atServer('keys', 'status', ...database, '--vault-addr', 'https://127.0.0.1:1'),
    'audit verify': () => atServer('audit', 'verify', ...database, '--vault-addr', 'https://127.0.0.1:1'),
    'kubectl status': () => atServer('kubectl', 'status'),
    'kubectl reactor logs -f': () => atServer('kubectl', 'reactor', 'logs', 'score', '-f'),
    // Of standard input, which stays open.
    'kubectl tokenize': () => ({
      command: ['kubectl', 'tokenize', '--url', 'http://127.0.0.1:1'],
      begun: (child) => eventually(async () => expect(await catchesHangUp(child)).to.equal(true)),
    }),
  };

  /** Node itself never does, but for this program. */
  async function catchesHangUp({ pid }: ChildProcess): Promise<boolean> {
    const [, caught = ''] = /^SigCgt:\s*([\da-f]+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
    return (BigInt(`0x${caught}`) & 1n) === 1n;
  }

  for (const [name, wait] of Object.entries(commands)) {
    for (const [signal, expected] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      it(`ends at once with code ${expected}: ${name}, ${signal}`, async () => {
        const { command, begun } = wait();
        const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...command], {
          env: { PATH: process.env['PATH'], HOME: folder, ...env },
        });
        children.add(child);
        let output = '';
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding('utf8').on('data', (text: string) => (output += text));
        }
        await Promise.race([begun(child), once(child, 'exit').then(() => expect.fail(`ended: ${output}`))]);
        const ended = once(child, 'close', { signal: AbortSignal.timeout(PROMPT_MS) });
        child.kill(signal);
        expect(await ended).to.deep.equal([expected, null]);
        expect(output).to.equal('');
      });
    }
  }
});

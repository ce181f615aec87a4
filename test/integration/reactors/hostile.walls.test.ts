import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { planMemory, spawnWalled } from '../../../src/reactors/host/child-process.ts';
import { confinement } from '../../../src/reactors/host/confinement.ts';
import { until } from '../../support/reactors.ts';

const PROGRAM = fileURLToPath(new URL('../../support/reactors/escape/program.mjs', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../support/reactors/escape/', import.meta.url));
const ADDON = fileURLToPath(new URL('../../../node_modules/isolated-vm/package.json', import.meta.url));

/** What Node's own permissions hold, wherever it runs. */
const HELD_BY_NODE = [
  'reads /etc/passwd',
  'reads /proc/self/environ',
  'reads /var/run/secrets/kubernetes.io/serviceaccount/token',
  `reads ${fileURLToPath(new URL('../../../package.json', import.meta.url))}`,
  'lists the root folder',
  'writes a file',
  'opens a file by SQLite',
  'loads a library that is no addon of ours',
  'loads an addon',
  'starts a thread',
  'opens the inspector',
  'takes a binding',
  'makes WebAssembly',
  'has an environment',
];

/** What they do not, and namespaces do. */
const HELD_BY_THE_SYSTEM = [
  'signals another process',
  'starts a debugger in another process',
  'connects to a port of the machine',
  'connects to a socket file',
  'connects to a public address',
  'connects to the metadata address',
  'sends a datagram',
  'asks for a name',
  'sees a network',
  'takes another user',
];

type Results = Record<string, string>;

describe('plain Node in the place of the process of the code', function () {
  this.timeout(60_000);
  let folder: string;
  let servers: Server[];
  let connections = 0;
  let bystander: ReturnType<typeof spawn>;
  let targets: string;
  let walled: Results;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tokenkeep-walls-'));
    servers = [createServer(), createServer()];
    for (const server of servers) server.on('connection', (socket) => ((connections += 1), socket.destroy()));
    servers[0]!.listen(0, '127.0.0.1');
    servers[1]!.listen(join(folder, 'socket'));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    bystander = spawn('/bin/sleep', ['60']);
    targets = JSON.stringify({
      files: HELD_BY_NODE.filter((name) => name.startsWith('reads ')).map((name) => name.slice('reads '.length)),
      writable: join(folder, 'written'),
      library: '/lib/x86_64-linux-gnu/libz.so.1',
      process: bystander.pid,
      port: (servers[0]!.address() as AddressInfo).port,
      socket: join(folder, 'socket'),
    });
    const child = spawnWalled(planMemory(256 * 2 ** 20), [PROGRAM, targets], [FOLDER, ADDON]);
    walled = JSON.parse(await text(child.stdout)) as Results;
  });
  after(() => {
    bystander.kill('SIGKILL');
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of HELD_BY_NODE) {
    it(`is kept from what the code must not: ${name}`, () => {
      expect(walled[name]).to.equal('denied');
    });
  }

  it('is kept from starting processes', () => {
    expect(walled['starts a process']).to.be.oneOf(['denied', 'got ERR_ACCESS_DENIED']);
  });

  for (const name of HELD_BY_THE_SYSTEM) {
    it(`is kept by the system from what Node would let it: ${name}`, function () {
      // Not every system lets a process have namespaces; docs/security.md says what is left there.
      if (confinement() === 'none') this.skip();
      expect(walled[name]).to.equal('denied');
    });
  }

  it('reaches no listener', function () {
    if (confinement() === 'none') this.skip();
    expect(connections).to.equal(0);
  });

  it('would do all of it without the walls', async () => {
    const free = spawn(process.execPath, [PROGRAM, targets], {
      env: { HOME: '/' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const results = JSON.parse(await text(free.stdout)) as Results;
    const possible = [
      ...['reads /etc/passwd', 'lists the root folder', 'writes a file', 'starts a process', 'starts a thread'],
      ...['takes a binding', 'makes WebAssembly', 'has an environment', 'sends a datagram', 'sees a network'],
      ...['signals another process', 'connects to a port of the machine', 'connects to a socket file'],
    ];
    expect(possible.filter((name) => !results[name]?.startsWith('got '))).to.deep.equal([]);
    await until(() => connections === 2);
  });
});

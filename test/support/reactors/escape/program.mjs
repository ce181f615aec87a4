// Stands where the process of the code stands, without an isolate: Node with all that it has, which tries to get out.
// Prints one JSON object: what came of each try, `denied` or what it got.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';

const targets = JSON.parse(process.argv[2]);
const results = {};

async function attempt(name, act) {
  const late = new Promise((resolve) => setTimeout(() => resolve('denied'), 2_000).unref());
  const tried = (async () => act())().then(
    (got) => `got ${typeof got === 'object' ? 'an object' : got}`,
    () => 'denied',
  );
  results[name] = await Promise.race([tried, late]);
}

const reach = (address) =>
  new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.once('connect', () => resolve('a connection'));
    socket.on('error', reject);
  });
const send = (port, host) =>
  new Promise((resolve, reject) => {
    const socket = createSocket('udp4').once('error', reject);
    socket.send('x', port, host, (error) => (error ? reject(error) : resolve('a datagram sent')));
  });

for (const path of targets.files) await attempt(`reads ${path}`, () => readFileSync(path).length);
await attempt('lists the root folder', () => readdirSync('/').length);
await attempt('writes a file', () => writeFileSync(targets.writable, 'x'));
await attempt('opens a file by SQLite', async () => {
  const { DatabaseSync } = await import('node:sqlite');
  new DatabaseSync(targets.writable).exec('create table a (b)');
});
await attempt('loads a library that is no addon of ours', () => process.dlopen({ exports: {} }, targets.library));
await attempt('loads an addon', () => createRequire('/')(targets.library));
await attempt('starts a process', () => spawnSync('/bin/true').error?.code ?? 'a process');
await attempt('starts a thread', async () => {
  const { Worker } = await import('node:worker_threads');
  new Worker('1', { eval: true });
});
await attempt('opens the inspector', async () => (await import('node:inspector')).open(0));
await attempt('takes a binding', () => Object.keys(process.binding('fs')).length);
await attempt('makes WebAssembly', () => new WebAssembly.Memory({ initial: 1 }));
await attempt('has an environment', () => {
  if (Object.keys(process.env).length === 0) throw new Error('none');
  return Object.keys(process.env).join();
});
await attempt('takes another user', () => process.setuid(0));

await attempt('signals another process', () => process.kill(targets.process, 0));
await attempt('starts a debugger in another process', () => process._debugProcess(targets.process));
await attempt('connects to a port of the machine', () => reach({ host: '127.0.0.1', port: targets.port }));
await attempt('connects to a socket file', () => reach({ path: targets.socket }));
await attempt('connects to a public address', () => reach({ host: '1.1.1.1', port: 443 }));
await attempt('connects to the metadata address', () => reach({ host: '169.254.169.254', port: 80 }));
await attempt('sends a datagram', () => send(targets.port, '127.0.0.1'));
await attempt('asks for a name', () => lookup('example.com').then(({ address }) => address));
await attempt('sees a network', () => {
  if (Object.keys(networkInterfaces()).length === 0) throw new Error('none');
  return Object.keys(networkInterfaces()).join();
});
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.abort());

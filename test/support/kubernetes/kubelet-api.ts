import { once } from 'node:events';
import { createServer } from 'node:https';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createAuthority, issueCertificate } from '../../../src/operator/workloads/certificates.ts';
import { runProgram } from '../program.ts';

/** As much of a connection of the package `ws` as is used here. */
interface Channels {
  send(data: Buffer): void;
  close(): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
  on(event: 'close', listener: () => void): void;
}

interface WebSocketServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, opened: (channels: Channels) => void): void;
}

const ws = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: { noServer: true; handleProtocols(offered: Set<string>): string }) => WebSocketServer;
};

/** The API of a node, which the API server hands on: logs of pods, connections to them, and commands in them. */
export interface KubeletApi {
  readonly port: number;
  /** Connections to pods that are open now. */
  readonly open: ReadonlySet<Socket>;
  /** Writes to the log of a pod (`namespace/name`), for those who follow it too. */
  log(pod: string, text: string): void;
  /** Ends the log of a pod, as its container's end does. */
  endLog(pod: string): void;
  close(): Promise<void>;
}

interface Log {
  text: string;
  hasEnded: boolean;
  readonly followers: Set<() => void>;
}

/**
 * Every pod is this machine: its ports are ours, and `tokenkeep` in it is the program of this checkout. Speaks
 * WebSockets alone.
 */
export async function startKubeletApi(): Promise<KubeletApi> {
  const subject = { name: 'node', usage: 'server' as const };
  const { certificate, key } = await issueCertificate(await createAuthority(Date.now()), subject, Date.now());
  const logs = new Map<string, Log>();
  const open = new Set<Socket>();
  const logOf = (pod: string): Log => {
    const found = logs.get(pod) ?? { text: '', hasEnded: false, followers: new Set<() => void>() };
    logs.set(pod, found);
    return found;
  };

  const server = createServer({ cert: certificate, key }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://node');
    const [, verb, namespace, pod] = pathname.split('/');
    const log = logs.get(`${namespace}/${pod}`);
    if (verb !== 'containerLogs' || log === undefined || searchParams.get('previous') === 'true') {
      response.writeHead(verb === 'containerLogs' ? 400 : 404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
    const tail = Number(searchParams.get('tailLines') ?? Infinity);
    const lines = log.text.split('\n').slice(0, -1);
    response.write(
      lines
        .slice(-Math.min(tail, lines.length) || lines.length)
        .map((line) => `${line}\n`)
        .join(''),
    );
    if (searchParams.get('follow') !== 'true' || log.hasEnded) return void response.end();
    let told = log.text.length;
    const tell = (): void => {
      response.write(log.text.slice(told));
      told = log.text.length;
      if (log.hasEnded) response.end();
    };
    log.followers.add(tell);
    response.on('close', () => log.followers.delete(tell));
  });
  const channels = new ws.WebSocketServer({ noServer: true, handleProtocols: (offered) => protocolOf(offered) });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://node');
    channels.handleUpgrade(request, socket, head, (opened) => {
      if (pathname.startsWith('/portForward/')) forward(opened, Number(searchParams.get('port')), open);
      else void execute(opened, searchParams.getAll('command'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    open,
    log(pod, text) {
      const log = logOf(pod);
      log.text += text;
      for (const tell of log.followers) tell();
    },
    endLog(pod) {
      const log = logOf(pod);
      log.hasEnded = true;
      for (const tell of log.followers) tell();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

function protocolOf(offered: Set<string>): string {
  return ['v5.channel.k8s.io', 'v4.channel.k8s.io'].find((each) => offered.has(each)) ?? '';
}

const DATA = 0;
const ERROR = 1;

/** Channel 0 carries bytes, channel 1 a sentence where there is no connection; both begin with the port. */
function forward(channels: Channels, port: number, open: Set<Socket>): void {
  const prefix = Buffer.alloc(2);
  prefix.writeUInt16LE(port);
  const send = (channel: number, data: Buffer): void => channels.send(Buffer.concat([Buffer.of(channel), data]));
  const socket = connect(port, '127.0.0.1');
  open.add(socket);
  send(DATA, prefix);
  send(ERROR, prefix);
  socket.on('data', (data) => send(DATA, data));
  socket.on('error', () => send(ERROR, Buffer.from(`connect to port ${port}: connection refused`)));
  socket.on('close', () => {
    open.delete(socket);
    channels.close();
  });
  channels.on('message', (data) => void socket.write(data.subarray(1)));
  channels.on('close', () => socket.destroy());
}

const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;

async function execute(channels: Channels, [program, ...args]: string[]): Promise<void> {
  const send = (channel: number, text: string): void =>
    channels.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
  if (program !== 'tokenkeep') {
    send(STATUS, JSON.stringify({ status: 'Failure', reason: 'InternalError', message: 'no such program' }));
    return channels.close();
  }
  const { code, stdout, stderr } = await runProgram(args);
  send(STDOUT, stdout);
  send(STDERR, stderr);
  const causes = [{ reason: 'ExitCode', message: String(code) }];
  const failure = { status: 'Failure', reason: 'NonZeroExitCode', details: { causes } };
  send(STATUS, JSON.stringify(code === 0 ? { status: 'Success' } : failure));
  channels.close();
}

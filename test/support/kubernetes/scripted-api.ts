import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request, in whatever way. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** Answers for requests of one sort, in the order in which both come. */
export interface Script {
  push(...answers: Answer[]): void;
}

/** A server that speaks the protocol of the Kubernetes API as badly as it is told to. */
export interface ScriptedApi {
  readonly kubeConfig: KubeConfig;
  readonly seen: SeenRequest[];
  /** What lists, watches and other requests get. */
  readonly lists: Script;
  readonly watches: Script;
  readonly others: Script;
  /** The watches that are open, in the order in which they came. */
  readonly open: ServerResponse[];
  connections(): number;
  close(): Promise<void>;
}

/** Over plain HTTP: certificates are the business of the tests against a real API server. */
export async function startScriptedApi(): Promise<ScriptedApi> {
  const seen: SeenRequest[] = [];
  const lists = createScript();
  const watches = createScript();
  const others = createScript();
  const open: ServerResponse[] = [];
  const sockets = new Set<Socket>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://scripted');
    const query = Object.fromEntries(searchParams);
    const { method = '', headers } = request;
    const it = { method, path: pathname, query, headers, body: await text(request) };
    seen.push(it);
    if (query.watch === 'true') {
      open.push(response);
      response.on('close', () => void open.splice(open.indexOf(response), 1));
      watches.answer(response, it);
    } else {
      const isList = method === 'GET' && /\/[a-z]+s$/.test(pathname);
      (isList ? lists : others).answer(response, it);
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'scripted', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'test', token: 'the-token' },
  );
  return {
    kubeConfig,
    seen,
    lists,
    watches,
    others,
    open,
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A request for which there is no answer yet waits for one. */
function createScript(): Script & { answer: Answer } {
  const answers: Answer[] = [];
  const waiting: ((answer: Answer) => void)[] = [];
  return {
    push(...more) {
      answers.push(...more);
      while (answers.length > 0 && waiting.length > 0) waiting.shift()?.(answers.shift()!);
    },
    answer(response, request) {
      const next = answers.shift();
      if (next !== undefined) return next(response, request);
      const take = (answer: Answer): void => answer(response, request);
      waiting.push(take);
      response.on('close', () => waiting.includes(take) && waiting.splice(waiting.indexOf(take), 1));
    },
  };
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

/** A refusal, as the API words it. */
export function refusal(code: number, reason: string, extra: object = {}): Answer {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason}!`, ...extra };
  return json(status, code);
}

/** Breaks the connection. */
export const reset: Answer = (response) => response.destroy();

export interface ObjectOptions {
  uid?: string;
  namespace?: string;
}

/** A ConfigMap of this version. */
export function object(name: string, resourceVersion: string | number, options: ObjectOptions = {}): object {
  const { uid = `uid-of-${name}`, namespace = 'default' } = options;
  const metadata = { name, namespace, uid, resourceVersion: String(resourceVersion) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

export function page(items: object[], resourceVersion: string | number, more?: string): Answer {
  const metadata = { resourceVersion: String(resourceVersion), ...(more === undefined ? {} : { continue: more }) };
  return json({ kind: 'ConfigMapList', apiVersion: 'v1', metadata, items });
}

export function event(type: string, about: object): string {
  return `${JSON.stringify({ type, object: about })}\n`;
}

/** Bytes of a watch that stays open, with a line for each event. */
export function stream(...lines: string[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const line of lines) response.write(line);
  };
}

/** As `stream`, and then the end. */
export function streamAndEnd(...lines: string[]): Answer {
  return (response, request) => {
    stream(...lines)(response, request);
    response.end();
  };
}

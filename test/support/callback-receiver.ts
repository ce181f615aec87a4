import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { eventually } from './eventually.ts';

export interface ReceivedCallback {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  at: number;
}

export interface CallbackEvent {
  type: string;
  timestamp: string;
  data: {
    request_id: string;
    reactor_id: string;
    trace_id: string;
    status: number;
    headers?: Record<string, string>;
    body?: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- results are looked into freely
  };
}

/** Answers one attempt; by default with 200. */
export type Behaviour = (response: ServerResponse, attempt: number) => void;

/** A receiver of callbacks on this machine, which keeps what it gets by path. */
export class CallbackReceiver {
  readonly host: string;
  readonly #server: Server;
  readonly #received: ReceivedCallback[] = [];
  readonly #behaviours = new Map<string, Behaviour>();

  private constructor(server: Server) {
    this.#server = server;
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<CallbackReceiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CallbackReceiver(server);
  }

  url(path: string): string {
    return `http://${this.host}/${path}`;
  }

  /** How attempts at this path are answered, counted from 1. */
  behave(path: string, behaviour: Behaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  received(path: string): readonly ReceivedCallback[] {
    return this.#received.filter((callback) => callback.path === path);
  }

  /** The attempt with this number, once it has come. */
  next(path: string, attempt = 1, deadlineMs = 20_000): Promise<ReceivedCallback> {
    return eventually(
      async () => {
        const found = this.received(path)[attempt - 1];
        if (found === undefined) throw new Error(`no attempt ${attempt} at ${path}`);
        return found;
      },
      { deadlineMs },
    );
  }

  /** The event, as an independent implementation of Standard Webhooks reads it; throws where it is not genuine. */
  verify(secret: string, headers: IncomingHttpHeaders, text: string): CallbackEvent {
    return new Webhook(secret).verify(text, headers as Record<string, string>) as CallbackEvent;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').slice(1);
    const text = await readText(request).catch(() => undefined);
    if (text === undefined) return;
    this.#received.push({ path, headers: request.headers, text, at: Date.now() });
    const behaviour = this.#behaviours.get(path);
    if (behaviour === undefined) response.end();
    else behaviour(response, this.received(path).length);
  }
}

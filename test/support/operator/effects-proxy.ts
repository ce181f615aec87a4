import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Agent as HttpsAgent, createServer as createTlsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request that may change something, in the order in which the requests came. */
export interface Effect {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
}

/** When to strike: at an effect, counted from 0 from the moment on when the plan is made. */
export interface StrikePlan {
  readonly index: number;
  /** Before the request is passed on, or once it is answered and the answer was not yet passed back. */
  readonly side: 'before' | 'after';
  /** Ends the program whose effects these are. */
  readonly strike: () => void;
}

/** Which request to hold back, counted alike: it is passed on once the promise resolves. */
export interface HoldPlan {
  readonly index: number;
  readonly hold: () => Promise<void>;
}

/** Which effects are counted. */
export type EffectFilter = (effect: Effect) => boolean;

export interface EffectsRecord {
  readonly effects: readonly Effect[];
  readonly hasStruck: boolean;
}

export interface EffectsProxyOptions {
  /** Of the kube-apiserver; and what it proves itself by, which the proxy proves itself by too. PEM files. */
  readonly kubernetes: { readonly server: string; readonly certFile: string; readonly keyFile: string };
  /** Origin. */
  readonly internalApi: string;
}

/** Stands between an operator and all that it has effects on: a kube-apiserver and the internal API. */
export interface EffectsProxy {
  /** Origins for the operator. */
  readonly kubernetesUrl: string;
  readonly internalUrl: string;
  /** Records the effects that concern the caller from now on, and strikes or holds one request if told to. */
  begin(concerns: EffectFilter, plan?: StrikePlan | HoldPlan): EffectsRecord;
  /** From now on the internal API does not answer, until it is called with false. */
  cutInternalApi(isCut: boolean): void;
  close(): Promise<void>;
}

type Pass = (incoming: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<IncomingMessage>;

const MUTATING = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** What a crash beside them cannot harm: nothing hangs on them, and leases come every two seconds. */
const UNCOUNTED = /\/(leases|events)(\/|$)/;

/** Passes one request on, over connections that are kept. */
function passTo(origin: string, ca?: Buffer): Pass {
  const isTls = origin.startsWith('https:');
  const agent = isTls ? new HttpsAgent({ keepAlive: true, ca }) : new HttpAgent({ keepAlive: true });
  return (incoming, body, response) =>
    new Promise((resolve, reject) => {
      const { method, url = '/', headers } = incoming;
      const send = isTls ? httpsRequest : httpRequest;
      const outgoing = send(new URL(url, origin), { method, headers, agent }, resolve);
      outgoing.on('error', reject);
      // A watch whose reader is gone must not stay open; an effect goes on, as it would without us.
      response.once('close', () => {
        if (method === 'GET' && !response.writableFinished) outgoing.destroy();
      });
      outgoing.end(body);
    });
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}

async function listen(server: Server): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    });
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, sockets };
}

export async function startEffectsProxy({ kubernetes, internalApi }: EffectsProxyOptions): Promise<EffectsProxy> {
  const [cert, key] = await Promise.all([readFile(kubernetes.certFile), readFile(kubernetes.keyFile)]);
  let effects: Effect[] = [];
  let concerns: EffectFilter = () => false;
  let plan: StrikePlan | HoldPlan | undefined;
  let record: { effects: Effect[]; hasStruck: boolean } = { effects, hasStruck: false };
  let isInternalCut = false;

  function strike(planned: StrikePlan): void {
    plan = undefined;
    record.hasStruck = true;
    planned.strike();
    for (const { sockets } of [overTls, plain]) for (const socket of sockets) socket.destroy();
  }

  async function handle(pass: Pass, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = incoming;
    const path = url.split('?')[0]!;
    const body = await buffer(incoming);
    const effect = { method, path };
    const isEffect = MUTATING.has(method) && !UNCOUNTED.test(path) && concerns(effect);
    const due = isEffect && effects.length === plan?.index ? plan : undefined;
    if (isEffect) effects.push(effect);
    if (due !== undefined && 'hold' in due) await due.hold();
    else if (due?.side === 'before') return strike(due);
    const answer = await pass(incoming, body, response);
    if (due === undefined || 'hold' in due) return passBack(answer, response);
    await buffer(answer);
    strike(due);
  }

  const listener =
    (pass: Pass, isCut: () => boolean): RequestListener =>
    (incoming, response) => {
      if (isCut()) return void incoming.socket.destroy();
      handle(pass, incoming, response).catch(() => incoming.socket.destroy());
    };
  const tlsServer = createTlsServer(
    { cert, key },
    listener(passTo(kubernetes.server, cert), () => false),
  );
  const plainServer = createServer(listener(passTo(internalApi), () => isInternalCut));
  const [overTls, plain] = await Promise.all([listen(tlsServer), listen(plainServer)]);

  return {
    kubernetesUrl: `https://127.0.0.1:${overTls.port}`,
    internalUrl: `http://127.0.0.1:${plain.port}`,
    begin(filter, next) {
      effects = [];
      concerns = filter;
      plan = next;
      record = { effects, hasStruck: false };
      return record;
    },
    cutInternalApi(isCut) {
      isInternalCut = isCut;
      if (isCut) for (const socket of plain.sockets) socket.destroy();
    },
    async close() {
      for (const { sockets } of [overTls, plain]) for (const socket of sockets) socket.destroy();
      tlsServer.close();
      plainServer.close();
      await Promise.all([once(tlsServer, 'close'), once(plainServer, 'close')]);
    },
  };
}

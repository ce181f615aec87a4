import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ApplicationDeclaration,
  DeclarationChange,
  ReactorDeclaration,
  ReactorDemand,
  ReactorIds,
  ReactorInstance,
  ReactorWorkload,
  TenantDeclaration,
} from '../../../src/domain/declarations.ts';

/** Any declaration that the internal API takes, or the instances of a reactor. */
export type HeldBody = Partial<
  Omit<ApplicationDeclaration, 'type'> &
    Omit<ReactorDeclaration, 'name'> &
    Omit<TenantDeclaration, 'name' | 'type'> & { type: string; instances: ReactorInstance[]; address: string }
>;

/** The other end of our own internal protocol: holds what is put, by path, and streams changes. */
export interface InternalApiPeer {
  baseUrl: string;
  token: string;
  /** Path below `/internal/` to the body that it holds. */
  held: Map<string, HeldBody>;
  /** `PUT path` and `DELETE path`, in order, also those that were refused. */
  requests: string[];
  /** Reactors of which what is stored cannot be opened. */
  damaged: ReactorIds[];
  demand: ReactorDemand[];
  /** How often it was asked for. */
  demandRequests: number;
  /** How often all reactors were asked for. */
  listRequests: number;
  /** Whether it does not tell of demand, as where it is overloaded. */
  mute: boolean;
  /** Tells that calls of a reactor wait. */
  poke(reactorPath: string): void;
  /** Answers this instead, while it returns something. */
  refuse: (method: string, path: string) => { status: number; body: object } | undefined;
  /** Changes what is held as another client of the API would, and says so. */
  drift(path: string, body: HeldBody | undefined): void;
  close(): Promise<void>;
}

const KEY_OF_ANOTHER = {
  title: 'One or more validation errors occurred.',
  status: 400,
  errors: { keys: ['holds a key that another application has'] },
};

export async function startInternalApiPeer(): Promise<InternalApiPeer> {
  const streams = new Set<ServerResponse>();
  const peer: Omit<InternalApiPeer, 'baseUrl' | 'close'> = {
    token: 'token-of-the-test',
    held: new Map(),
    requests: [],
    damaged: [],
    demand: [],
    demandRequests: 0,
    listRequests: 0,
    mute: false,
    poke(path) {
      const [, tenantId = '', , reactorId = ''] = path.split('/');
      tell({ kind: 'demand', tenantId, reactorId });
    },
    refuse: () => undefined,
    drift(path, body) {
      if (body === undefined) peer.held.delete(path);
      else peer.held.set(path, body);
      announce(path);
    },
  };
  const send = (response: ServerResponse, status: number, body?: object) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };

  function announce(path: string): void {
    const [, tenantId = '', collection = '', id = ''] = path.split('/');
    const kind = collection === '' ? 'tenant' : collection === 'applications' ? 'application' : 'reactor';
    const change: DeclarationChange = { kind, tenantId, id: collection === '' ? tenantId : id };
    tell(change);
  }

  function tell(change: DeclarationChange): void {
    for (const stream of streams) stream.write(`${JSON.stringify(change)}\n`);
  }

  function workloads(): ReactorWorkload[] {
    return [...peer.held].flatMap(([path, body]) => {
      const match = /^tenants\/([^/]+)\/reactors\/([^/]+)$/.exec(path);
      const [, tenantId, reactorId] = match ?? [];
      return tenantId && reactorId
        ? [{ tenantId, reactorId, revision: JSON.stringify(body), ...(body as ReactorDeclaration) }]
        : [];
    });
  }

  /** As the API does: a key has one owner. */
  function hasKeyOfAnother(path: string, { keys = [] }: HeldBody): boolean {
    const others = [...peer.held].filter(([other]) => other !== path).flatMap(([, body]) => body.keys ?? []);
    return keys.some(({ digest }) => others.some((other) => other.digest === digest));
  }

  function answer(method: string, path: string, body: HeldBody, response: ServerResponse): void {
    if (method === 'GET' && path === 'changes') {
      response.writeHead(200);
      response.write('{"kind":"resync"}\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    if (method === 'GET' && path === 'demand') {
      peer.demandRequests += 1;
      return peer.mute ? send(response, 503) : send(response, 200, { data: peer.demand });
    }
    if (method === 'GET') {
      peer.listRequests += 1;
      const isWhole = ({ tenantId, reactorId }: ReactorIds) =>
        !peer.damaged.some((each) => each.tenantId === tenantId && each.reactorId === reactorId);
      return send(response, 200, { data: workloads().filter(isWhole), damaged: peer.damaged });
    }
    const refusal = peer.refuse(method, path);
    if (refusal !== undefined) return send(response, refusal.status, refusal.body);
    if (method === 'DELETE' && path.endsWith('/keys')) {
      const owner = peer.held.get(path.slice(0, -'/keys'.length));
      if (owner !== undefined) owner.keys = [];
      return send(response, 204);
    }
    if (method === 'DELETE') {
      const wasThere = peer.held.delete(path);
      if (wasThere) announce(path);
      return send(response, wasThere ? 204 : 404, wasThere ? undefined : { title: 'Not found', status: 404 });
    }
    if (hasKeyOfAnother(path, body)) return send(response, KEY_OF_ANOTHER.status, KEY_OF_ANOTHER);
    const changed = JSON.stringify(peer.held.get(path)) !== JSON.stringify(body);
    peer.held.set(path, body);
    if (path === 'checker' || path.endsWith('/instances')) return send(response, 204);
    if (changed) announce(path);
    return send(response, 200, { changed });
  }

  const server: Server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '' } = request;
      const path = url.replace('/internal/', '');
      if (method !== 'GET') peer.requests.push(`${method} ${path}`);
      if (request.headers.authorization !== `Bearer ${peer.token}`) return send(response, 401, { title: 'No' });
      const text = Buffer.concat(chunks).toString();
      return answer(method, path, JSON.parse(text || '{}') as HeldBody, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(peer, {
    baseUrl: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a client and Postgres, and can stop passing on, as a network that drops packets does. */
export interface FreezingProxy {
  readonly connectionString: string;
  /** Made through it so far. */
  readonly connections: number;
  /** From now on nothing passes over the connections that are open; new ones pass. */
  freeze(): void;
  close(): Promise<void>;
}

export async function startFreezingProxy(connectionString: string): Promise<FreezingProxy> {
  const target = new URL(connectionString);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => sockets.delete(from));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = new URL(connectionString);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);
  return {
    connectionString: own.href,
    get connections() {
      return connections;
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

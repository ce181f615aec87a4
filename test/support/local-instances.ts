import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ReactorInstance } from '../../src/domain/declarations.ts';
import { CONCURRENCY_HEADER } from '../../src/reactors/protocol.ts';
import type { InvokeRequest } from '../../src/reactors/protocol.ts';
import type { InvocationOutcome } from '../../src/reactors/types.ts';

export interface LocalInstance {
  instance: ReactorInstance;
  /** What it was sent. */
  requests: InvokeRequest[];
}

/** Listeners of this process that answer as instances of reactors do. */
export interface LocalInstances {
  start(revision: string, answer?: () => Promise<InvocationOutcome>): Promise<LocalInstance>;
  close(): void;
}

export const RETURNED: InvocationOutcome = { kind: 'returned', raw: 1 };

export function createLocalInstances(): LocalInstances {
  const servers: Server[] = [];
  return {
    async start(revision, answer = async () => RETURNED) {
      const requests: InvokeRequest[] = [];
      const server = createServer((request, response) => {
        void json(request).then(async (body) => {
          requests.push(body as InvokeRequest);
          response.setHeader(CONCURRENCY_HEADER, '1');
          response.end(JSON.stringify(await answer()));
        });
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return { instance: { address, credential: 'c', revision }, requests };
    },
    close() {
      for (const server of servers.splice(0)) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

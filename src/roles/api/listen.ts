import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type Koa from 'koa';
import { API_CLIENT_NAME } from '../../domain/reactor-certificates.ts';
import { startHttpServer } from '../../platform/http-server.ts';
import { urlOf } from '../../platform/server-url.ts';
import type { ApiAccess } from '../../services/reactors/react.ts';
import { DEFAULT_GRACE_MS, type ApiOptions } from './options.ts';

export interface Apps {
  readonly app: Koa;
  readonly internalApp: Koa;
}

export interface Listening {
  readonly port: number;
  /** Undefined where there is none. */
  readonly svcPort: number | undefined;
  readonly internalPort: number;
  /** How instances of reactors reach the public API. */
  readonly access: ApiAccess;
  /** For as long as the options say, goes on serving, and has clients open connections anew. */
  drain(): Promise<void>;
}

/** What still calls the API from instances of reactors once it has closed is what was cut off there. */
const SVC_GRACE_MS = 1_000;

function listenerOf(app: Koa): RequestListener {
  const handle = app.callback();
  return (request, response) => void handle(request, response);
}

/** Serves the internal API and the public one, and the latter once more by TLS where instances are in pods. */
export async function listen(options: ApiOptions, { app, internalApp }: Apps): Promise<Listening> {
  const { host, svc, shutdown, drainMs = 0, graceMs = DEFAULT_GRACE_MS } = options;
  const internal = await startHttpServer({
    host: options.internalHost,
    port: options.internalPort,
    portFlag: '--internal-port',
    listener: listenerOf(internalApp),
    certificate: options.internalCertificate,
  });
  shutdown.push('internal API', () => internal.close(0));
  const svcServer =
    svc &&
    (await startHttpServer({
      ...{ host, port: svc.port, portFlag: '--svc-port' },
      ...{ listener: listenerOf(app), certificate: svc.certificate },
    }));
  // After the API: what it lets come to its end may still call it here.
  if (svcServer) shutdown.push('API for reactors', () => svcServer.close(SVC_GRACE_MS));
  const server = await startHttpServer({ host, port: options.port, portFlag: '--port', listener: listenerOf(app) });
  shutdown.push('API', () => server.close(graceMs));
  return {
    port: server.port,
    svcPort: svcServer?.port,
    internalPort: internal.port,
    access: svcServer
      ? { baseUrl: svc?.url ?? urlOf(host, svcServer.port, 'https'), serverName: API_CLIENT_NAME }
      : { baseUrl: urlOf(host, server.port) },
    async drain() {
      if (drainMs === 0) return;
      server.drain();
      await delay(drainMs);
    },
  };
}

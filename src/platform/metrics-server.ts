import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { startHttpServer } from './http-server.ts';
import type { HttpServer } from './http-server.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly registry: Registry;
}

/** Serves `GET /metrics`, and nothing else, on a port of its own, so that it need not be reachable where the API is. */
export function startMetricsServer({ host, port, registry }: MetricsServerOptions): Promise<HttpServer> {
  return startHttpServer({
    host,
    port,
    portFlag: '--metrics-port',
    listener: (request, response) => {
      void answer(registry, request, response);
    },
  });
}

async function answer(registry: Registry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.split('?')[0] !== '/metrics') {
    response.writeHead(404).end();
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else {
    try {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } catch {
      response.writeHead(500).end();
    }
  }
}

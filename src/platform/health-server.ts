import type { Registry } from 'prom-client';
import { readinessAnswer, type Health } from './health.ts';
import { startHttpServer } from './http-server.ts';
import type { HttpServer } from './http-server.ts';
import { metricsPage } from './metrics-server.ts';
import { createPageListener, jsonPage, type Page } from './page-listener.ts';

export interface HealthServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly health: Health;
  /** Served at `GET /metrics` where it is given. */
  readonly registry?: Registry;
}

/**
 * Serves `GET /healthz`, `GET /readyz` and where asked for metrics, and nothing else, for a process that serves nothing
 * else over HTTP.
 */
export function startHealthServer({ host, port, health, registry }: HealthServerOptions): Promise<HttpServer> {
  const pages = new Map<string, () => Promise<Page>>([
    // That it answers at all is what is asked.
    ['/healthz', async () => jsonPage({ status: 'ok' })],
    [
      '/readyz',
      async () => {
        const { status, body } = await readinessAnswer(health);
        return jsonPage(body, status);
      },
    ],
  ]);
  if (registry) pages.set('/metrics', () => metricsPage(registry));
  const listener = createPageListener((path) => pages.get(path));
  return startHttpServer({ host, port, portFlag: '--health-port', listener });
}

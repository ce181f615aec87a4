import type { Registry } from 'prom-client';
import { startHttpServer } from './http-server.ts';
import type { HttpServer } from './http-server.ts';
import { createPageListener, jsonPage, type FindPage, type Page } from './page-listener.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly registry: Registry;
  /** Single figures, in JSON, for programs that cannot read the others: by path, undefined where there is none. */
  readonly figures?: (path: string) => object | undefined;
}

/** Serves `GET /metrics`, and `figures`, on a port of its own, so that it need not be reachable where the API is. */
export function startMetricsServer({ host, port, registry, figures }: MetricsServerOptions): Promise<HttpServer> {
  const find: FindPage = (path) => {
    if (path === '/metrics') return () => metricsPage(registry);
    const figure = figures?.(path);
    return figure && (async () => jsonPage(figure));
  };
  return startHttpServer({ host, port, portFlag: '--metrics-port', listener: createPageListener(find) });
}

/** All metrics of a registry, as Prometheus reads them. */
export async function metricsPage(registry: Registry): Promise<Page> {
  return { contentType: registry.contentType, body: await registry.metrics() };
}

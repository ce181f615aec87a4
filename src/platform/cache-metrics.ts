import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Told of each look into a cache. */
export interface CacheObserver {
  hit(): void;
  /** What was looked for had to be fetched. */
  missed(): void;
}

export const unobservedCache: CacheObserver = { hit: () => undefined, missed: () => undefined };

/** Figures of the caches of a process, by name. */
export interface CacheMetrics {
  observe(cache: string): CacheObserver;
  /** Tells the size from now on. */
  follow(cache: string, size: () => number): void;
}

export function createCacheMetrics(metrics: Metrics): CacheMetrics {
  const sizes = new Map<string, () => number>();
  const lookUps = metrics.counter({
    name: 'cache_lookups_total',
    help: 'Looks into a cache, by cache and result: hit or miss.',
    labels: ['cache', 'result'],
  });
  new Gauge({
    name: 'tokenkeep_cache_entries',
    help: 'Entries of a cache.',
    labelNames: ['cache'] as const,
    registers: [metrics.registry],
    collect() {
      for (const [cache, size] of sizes) this.set({ cache }, size());
    },
  });
  return {
    observe(cache) {
      const [hits, misses] = [lookUps.labels({ cache, result: 'hit' }), lookUps.labels({ cache, result: 'miss' })];
      return { hit: () => hits.inc(), missed: () => misses.inc() };
    },
    follow: (cache, size) => void sizes.set(cache, size),
  };
}

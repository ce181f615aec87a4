import { sampleDataKeys } from '../../data/data-key-samples.ts';
import { createDataKeyStore } from '../../data/data-keys.ts';
import { createDataKeys, DEFAULT_DATA_KEY_LIMITS, type DataKeys } from '../../keys/data-keys.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import { watchKeyManagement } from '../../keys/key-watch.ts';
import { createKeyedHasher, type KeyedHasher } from '../../keys/keyed-hashes.ts';
import { observeKeyManagement } from '../../keys/observed-key-management.ts';
import { createSealer, type Sealer } from '../../keys/sealing.ts';
import type { CacheMetrics } from '../../platform/cache-metrics.ts';
import type { ReadinessCheck } from '../../platform/health.ts';
import { noTracing } from '../../platform/tracing.ts';
import { createDamageReport } from '../../services/damage.ts';
import type { ApiOptions } from './options.ts';

/** What values are sealed and hashed with. */
export interface Keys {
  /** The one of the options, with its figures. */
  readonly management: KeyManagement;
  readonly dataKeys: DataKeys;
  readonly sealer: Sealer;
  readonly hasher: KeyedHasher;
  /** Whether key management serves. */
  readonly check: ReadinessCheck;
}

/** Stands data keys on a key management that is watched from now on. */
export function openKeys(options: ApiOptions, caches: CacheMetrics): Keys {
  const { database, maintenance, clock, logger, metrics, tracing = noTracing, shutdown } = options;
  const management = observeKeyManagement(options.keyManagement, { metrics, tracing });
  const reportDamage = createDamageReport({ metrics, logger });
  const limits = { ...DEFAULT_DATA_KEY_LIMITS, ...options.dataKeyLimits };
  const watch = watchKeyManagement({
    management,
    samples: () => sampleDataKeys(maintenance),
    cacheTtlMs: limits.cacheTtlMs,
    ...{ clock, logger, metrics },
  });
  watch.start();
  shutdown.push('key management watch', () => watch.stop());
  const dataKeys = createDataKeys({
    management: watch.management,
    store: createDataKeyStore(database),
    ...{ clock, limits },
    onBroken: ({ tenantId, id }) => reportDamage({ tenantId, table: 'data_keys', rowId: id, column: 'wrapped' }),
    observer: caches.observe('data-keys'),
  });
  caches.follow('data-keys', () => dataKeys.size);
  shutdown.push('data keys', () => dataKeys.close());
  return {
    management,
    dataKeys,
    sealer: createSealer(dataKeys, { onBroken: reportDamage }),
    hasher: createKeyedHasher(dataKeys),
    check: watch.check,
  };
}

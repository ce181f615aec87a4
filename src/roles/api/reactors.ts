import { invocationSurface } from '../../api/routes/reactors/surface.ts';
import { createEgressClient } from '../../platform/egress/client.ts';
import { createReactorClient, type ReactorClient } from '../../reactors/client.ts';
import { createPoolMetrics } from '../../reactors/client-metrics.ts';
import { createTransport } from '../../reactors/transport.ts';
import type { ChangeFeed } from '../../services/change-feed.ts';
import { callbackRules } from '../../services/reactors/asynchronous/callback-url.ts';
import { createPostCallback } from '../../services/reactors/asynchronous/post-callback.ts';
import type { AsynchronousParts } from '../../services/reactors/asynchronous/types.ts';
import { createInvocationVault } from '../../services/reactors/asynchronous/vault.ts';
import { type AsynchronousWorker, createAsynchronousWorker } from '../../services/reactors/asynchronous/worker.ts';
import type { ReactorParts } from '../../services/reactors/manage.ts';
import type { ReactParts } from '../../services/reactors/react.ts';
import { createReactorVault } from '../../services/reactors/vault.ts';
import type { WebhookSecrets } from '../../services/webhook-secrets.ts';
import type { Keys } from './keys.ts';
import type { ApiOptions } from './options.ts';

export interface ReactorSideParts
  extends Pick<Keys, 'sealer' | 'hasher'>, Pick<ReactParts, 'tokens' | 'authentication' | 'audit' | 'apiAccess'> {
  readonly webhookSecrets: WebhookSecrets;
  readonly changes: ChangeFeed;
}

export interface ReactorSide {
  /** What reactors are managed with; its client calls their instances. */
  readonly reactors: ReactorParts;
  readonly asynchronous: AsynchronousParts;
  readonly worker: AsynchronousWorker;
}

/** Whatever of the API runs reactors: for callers who wait, and for those who do not. The worker is not started yet. */
export function createReactorSide(options: ApiOptions, parts: ReactorSideParts): ReactorSide {
  const { database, maintenance, clock, logger, metrics, tracing, shutdown } = options;
  const { sealer, hasher, tokens, authentication, audit, apiAccess, changes } = parts;
  const client: ReactorClient = createReactorClient({
    transport: createTransport({ identity: options.reactorIdentity, logger }),
    ...(tracing ? { tracing } : {}),
    observer: createPoolMetrics(metrics, () => client.load()),
    onWaiting: (tenantId, reactorId) => changes.publish({ kind: 'demand', tenantId, reactorId }),
  });
  shutdown.push('reactor client', () => client.stop());

  const reactors = { database, vault: createReactorVault(sealer, hasher), client, audit, clock };
  const hosts = { httpHosts: options.callbackHttpHosts ?? [] };
  const asynchronous = {
    ...{ database, maintenance, clock, logger, hosts },
    vault: createInvocationVault(sealer),
    invocation: { ...reactors, tokens, authentication, apiAccess, headerPrefix: options.headerPrefixes[0]! },
    surface: invocationSurface(clock),
    secrets: parts.webhookSecrets,
    post: createPostCallback(createEgressClient({ rules: callbackRules(hosts), ...options.callbackEgress })),
  };
  return { reactors, asynchronous, worker: createAsynchronousWorker({ ...asynchronous, metrics }) };
}

import type { Route } from '../../api/route.ts';
import { applicationKeyRoutes } from '../../api/routes/application-keys/index.ts';
import { applicationRoutes } from '../../api/routes/applications/index.ts';
import { applicationTemplateRoutes } from '../../api/routes/application-templates/index.ts';
import { logRoutes } from '../../api/routes/logs/index.ts';
import { permissionRoutes } from '../../api/routes/permissions/index.ts';
import { reactorRoutes } from '../../api/routes/reactors/index.ts';
import { sessionRoutes } from '../../api/routes/sessions/index.ts';
import { tenantRoutes } from '../../api/routes/tenants/index.ts';
import { tokenRoutes } from '../../api/routes/tokens/index.ts';
import { unservedRoutes } from '../../api/routes/unserved/index.ts';
import { webhookSecretRoutes } from '../../api/routes/webhook-secret/index.ts';
import type { ApplicationParts } from '../../services/applications.ts';
import type { Cursors } from '../../services/cursors.ts';
import { createBroadReads } from '../../services/tokens/broad-reads.ts';
import type { TokenParts } from '../../services/tokens/create.ts';
import { createLargePages } from '../../services/tokens/large-pages.ts';
import { createUpdateTurns } from '../../services/update-turns.ts';
import type { WebhookSecrets } from '../../services/webhook-secrets.ts';
import type { ApiOptions } from './options.ts';
import type { ReactorSide } from './reactors.ts';

export interface RouteParts extends ReactorSide {
  readonly tokens: TokenParts;
  readonly applications: ApplicationParts;
  readonly webhookSecrets: WebhookSecrets;
  readonly cursors: Cursors;
}

/** Every route of the public API. */
export function publicRoutes(options: ApiOptions, parts: RouteParts): Route[] {
  const { database, metrics } = options;
  const { tokens, applications, reactors, asynchronous, worker, webhookSecrets, cursors } = parts;
  return [
    ...tokenRoutes({
      ...{ ...tokens, cursors, tokenUpdates: createUpdateTurns('token') },
      broadReads: createBroadReads({ database, metrics, limits: options.broadReads }),
      largePages: createLargePages({ metrics }),
    }),
    ...applicationRoutes(applications),
    ...applicationKeyRoutes(applications),
    ...sessionRoutes(applications),
    ...tenantRoutes(applications),
    ...webhookSecretRoutes({ secrets: webhookSecrets }),
    ...reactorRoutes({
      ...{ ...reactors, reactorUpdates: createUpdateTurns('reactor') },
      asynchronous: { ...asynchronous, onAccepted: () => worker.poke() },
    }),
    ...logRoutes({ database, cursors }),
    ...permissionRoutes(),
    ...applicationTemplateRoutes(),
    ...unservedRoutes(),
  ];
}

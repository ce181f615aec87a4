import { listenForChanges } from '../../data/changes.ts';
import type { DataKeys } from '../../keys/data-keys.ts';
import type { Authentication } from '../../services/authentication.ts';
import type { ChangeFeed } from '../../services/change-feed.ts';
import type { ApiOptions } from './options.ts';

export interface ChangeFollowers {
  readonly authentication: Authentication;
  readonly dataKeys: DataKeys;
  readonly changes: ChangeFeed;
}

/** Forgets what other processes change, and passes their changes on to the operator. */
export async function followChanges(
  { connectionString, logger, shutdown }: ApiOptions,
  { authentication, dataKeys, changes }: ChangeFollowers,
): Promise<void> {
  const listener = await listenForChanges(connectionString, {
    onChange(change) {
      if (change.kind === 'application') authentication.forgetApplication(change.id);
      if (change.kind === 'tenant') {
        authentication.forgetAll();
        dataKeys.forget(change.id);
      }
      changes.publish(change);
    },
    onGap() {
      authentication.forgetAll();
      changes.publish({ kind: 'resync' });
    },
    logger,
  });
  shutdown.push('change listener', () => listener.close());
}

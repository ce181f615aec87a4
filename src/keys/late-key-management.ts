import { DomainError } from '../domain/errors.ts';
import { KeyManagementAway, type KeyManagement, type KeyManagementName } from './key-management.ts';

export interface LateKeyManagementOptions {
  readonly name: KeyManagementName;
  readonly open: () => Promise<KeyManagement>;
  /** For so long after it was away, it is not asked again; in ms. */
  readonly holdOffMs?: number;
}

const HOLD_OFF_MS = 1_000;

/**
 * Opens key management, later where it is away now: a process that starts while it is sealed must not end, only to be
 * started over and over, but be there when it comes back. Until it is open, every method tries to open it, and rejects
 * as that does.
 *
 * Rejects where key management answers and cannot be used as it is configured.
 */
export async function openKeyManagementLate({
  name,
  open,
  holdOffMs = HOLD_OFF_MS,
}: LateKeyManagementOptions): Promise<KeyManagement> {
  let opening: Promise<KeyManagement> | undefined;
  let closed = false;

  function opened(): Promise<KeyManagement> {
    if (closed) return Promise.reject(new DomainError('unavailable', 'key management has been closed'));
    return (opening ??= open().catch((error: unknown) => {
      setTimeout(() => (opening = undefined), holdOffMs).unref();
      throw error;
    }));
  }

  try {
    return await opened();
  } catch (error) {
    if (!(error instanceof KeyManagementAway)) throw error;
  }

  return {
    name,
    createDataKey: async (...args) => (await opened()).createDataKey(...args),
    unwrapDataKey: async (...args) => (await opened()).unwrapDataKey(...args),
    wrapDataKey: async (...args) => (await opened()).wrapDataKey(...args),
    rewrapDataKey: async (...args) => (await opened()).rewrapDataKey(...args),
    versions: async (...args) => (await opened()).versions(...args),
    rotate: async (...args) => (await opened()).rotate(...args),
    retire: async (...args) => (await opened()).retire(...args),
    authenticate: async (...args) => (await opened()).authenticate(...args),
    verifies: async (...args) => (await opened()).verifies(...args),
    ping: async (...args) => (await opened()).ping(...args),
    async close() {
      closed = true;
      const management = await opening?.catch(() => undefined);
      await management?.close();
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../domain/errors.ts';
import { takeProcessLock, type ProcessLock } from '../platform/process-lock.ts';
import { KeyringError, readKeyring, writeKeyring, type FoundKeyring, type Keyring } from './keyring-file.ts';

/** The keyring in its file, which other processes of the machine may change too. */
export interface KeyringStore {
  /** As it is on disk now. Throws a DomainError 'unavailable' where the file is missing, damaged or open to others. */
  read(): Promise<Keyring>;
  /**
   * Puts in the file what `change` makes of it, one process at a time, and gives that; `change` may give its argument
   * back. Durable once it resolves. Throws as `read` does, and where another process holds the file for too long.
   */
  change(change: (keyring: Keyring) => Keyring): Promise<Keyring>;
}

/** A change takes some milliseconds. */
const LOCK_DEADLINE_MS = 10_000;
const LOCK_RETRY_MS = 20;

export function createKeyringStore(path: string): KeyringStore {
  let known: FoundKeyring | undefined;

  async function read(): Promise<Keyring> {
    try {
      known = await readKeyring(path, known);
    } catch (error) {
      if (error instanceof KeyringError) throw new DomainError('unavailable', error.message, { cause: error });
      throw error;
    }
    if (known === undefined) throw new DomainError('unavailable', `the keyring ${path} is missing: restore it`);
    return known.keyring;
  }

  return {
    read,
    async change(change) {
      const lock = await lockKeyring(path);
      try {
        const before = await read();
        const after = change(before);
        if (after !== before) await writeKeyring(path, after);
        return after;
      } finally {
        await lock.release();
      }
    },
  };
}

/** Takes the turn to write the keyring. */
export async function lockKeyring(path: string): Promise<ProcessLock> {
  const deadline = Date.now() + LOCK_DEADLINE_MS;
  for (;;) {
    const lock = await takeProcessLock(`${path}.lock`);
    if ('release' in lock) return lock;
    if (Date.now() > deadline) {
      throw new DomainError('unavailable', `the keyring ${path} is being changed by process ${lock.heldBy}: stop it`);
    }
    await delay(LOCK_RETRY_MS);
  }
}

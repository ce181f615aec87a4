import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyManagement, MasterKey } from './key-management.ts';
import { KeyringError, newKey, readKeyring, writeKeyring, type Keyring, type KeyVersion } from './keyring-file.ts';
import { createKeyringStore, lockKeyring } from './keyring-store.ts';
import { lengthPrefixed } from './length-prefixed.ts';

const DATA_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WRAPPED = /^keyring:v(\d{1,9}):([A-Za-z0-9+/]+={0,2})$/;
const MAC_PREFIX = 'keyring:v1:';

export interface KeyringOptions {
  /** Whether data keys exist that a keyring has wrapped. Then a missing file is refused: a new one would open none. */
  readonly isNeeded: () => Promise<boolean>;
}

/**
 * Key management in one file of this machine, mode 0600, that is made on the first start. Several processes may use and
 * change it at once. Throws a KeyringError where the file is damaged, missing though needed, or open to other users.
 */
export async function openKeyring(path: string, { isNeeded }: KeyringOptions): Promise<KeyManagement> {
  if ((await readKeyring(path)) === undefined) await makeKeyring(path, isNeeded);
  const store = createKeyringStore(path);

  async function wrapDataKey(master: MasterKey, tenantId: string, plaintext: Buffer): Promise<string> {
    const versions = (await store.read()).masters[master];
    const version = currentOf(versions);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', versions.get(version)!.key, nonce);
    cipher.setAAD(bindingOf(master, tenantId, version));
    const sealed = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return `keyring:v${version}:${sealed.toString('base64')}`;
  }

  async function unwrapDataKey(master: MasterKey, tenantId: string, wrapped: string): Promise<Buffer> {
    const [, versionText, sealedText] = WRAPPED.exec(wrapped) ?? [];
    const version = Number(versionText);
    const sealed = Buffer.from(sealedText ?? '', 'base64');
    const key = (await store.read()).masters[master].get(version)?.key;
    if (key === undefined || sealed.length !== NONCE_BYTES + DATA_KEY_BYTES + TAG_BYTES) throw notUnwrappable();
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(bindingOf(master, tenantId, version));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    // One buffer alone ever holds the key, so that who zeroes it leaves none behind.
    const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      decipher.final();
    } catch {
      plaintext.fill(0);
      throw notUnwrappable();
    }
    return plaintext;
  }

  function changeMaster(
    master: MasterKey,
    change: (versions: ReadonlyMap<number, KeyVersion>) => ReadonlyMap<number, KeyVersion>,
  ): Promise<Keyring> {
    return store.change((keyring) => {
      const versions = keyring.masters[master];
      const changed = change(versions);
      return changed === versions ? keyring : { ...keyring, masters: { ...keyring.masters, [master]: changed } };
    });
  }

  return {
    name: 'keyring',
    async createDataKey(master, tenantId) {
      const plaintext = randomBytes(DATA_KEY_BYTES);
      return { plaintext, wrapped: await wrapDataKey(master, tenantId, plaintext) };
    },
    unwrapDataKey,
    wrapDataKey,
    async rewrapDataKey(master, tenantId, wrapped) {
      const plaintext = await unwrapDataKey(master, tenantId, wrapped);
      try {
        return await wrapDataKey(master, tenantId, plaintext);
      } finally {
        plaintext.fill(0);
      }
    },
    async versions(master) {
      const versions = (await store.read()).masters[master];
      const current = currentOf(versions);
      return { current, oldest: Math.min(...versions.keys()), currentSince: versions.get(current)!.madeAt };
    },
    async rotate(master) {
      await changeMaster(master, (versions) => {
        return new Map([...versions, [currentOf(versions) + 1, { key: newKey(), madeAt: new Date() }]]);
      });
    },
    async retire(master, oldest) {
      await changeMaster(master, (versions) => {
        if (oldest > currentOf(versions)) throw new Error('the current version of a master key cannot be retired');
        const kept = [...versions].filter(([version]) => version >= oldest);
        return kept.length === versions.size ? versions : new Map(kept);
      });
    },
    async authenticate(message) {
      const { audit = await makeAuditKey() } = await store.read();
      return MAC_PREFIX + macOf(audit, message).toString('base64');
    },
    async verifies(message, mac) {
      const { audit } = await store.read();
      if (audit === undefined || !mac.startsWith(MAC_PREFIX)) return false;
      const [given, right] = [Buffer.from(mac.slice(MAC_PREFIX.length), 'base64'), macOf(audit, message)];
      return given.length === right.length && timingSafeEqual(given, right);
    },
    async ping() {
      await store.read();
    },
    close: async () => undefined,
  };

  async function makeAuditKey(): Promise<Buffer> {
    const { audit } = await store.change((keyring) => ({ ...keyring, audit: keyring.audit ?? newKey() }));
    return audit!;
  }
}

async function makeKeyring(path: string, isNeeded: () => Promise<boolean>): Promise<void> {
  if (await isNeeded()) {
    throw new KeyringError(`the keyring ${path} is missing, and the database holds data sealed under it: restore it`);
  }
  const lock = await lockKeyring(path);
  try {
    // Another process may have been first.
    if ((await readKeyring(path)) !== undefined) return;
    const first = (): KeyVersion => ({ key: newKey(), madeAt: new Date() });
    const masters = { tokens: new Map([[1, first()]]), cvc: new Map([[1, first()]]) };
    await writeKeyring(path, { masters, audit: newKey() });
  } finally {
    await lock.release();
  }
}

function currentOf(versions: ReadonlyMap<number, KeyVersion>): number {
  return Math.max(...versions.keys());
}

function bindingOf(master: MasterKey, tenantId: string, version: number): Buffer {
  return lengthPrefixed('tokenkeep data key', master, tenantId, String(version));
}

function macOf(key: Buffer, message: Buffer): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

function notUnwrappable(): Error {
  return new Error('a data key does not unwrap: it was altered, or belongs to another tenant, master key or keyring');
}

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { lengthPrefixed } from './length-prefixed.ts';
import type { KeyManagement, MasterKey } from './key-management.ts';
import { KeyringError, newMasterKey, readKeyring, writeKeyring, type Keyring } from './keyring-file.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WRAPPED = /^keyring:v(\d{1,9}):([A-Za-z0-9+/]+={0,2})$/;

export interface KeyringOptions {
  /** Whether data keys exist that a keyring has wrapped. Then a missing file is refused: a new one would open none. */
  readonly isNeeded: () => Promise<boolean>;
}

/**
 * Key management in one file of this machine, mode 0600, that is made on the first start. Throws a KeyringError where
 * the file is damaged, missing though needed, or open to other users.
 */
export async function openKeyring(path: string, { isNeeded }: KeyringOptions): Promise<KeyManagement> {
  let keyring = (await readKeyring(path)) ?? (await makeKeyring(path, isNeeded));

  return {
    async createDataKey(master, tenantId) {
      const version = Math.max(...keyring.masters[master].keys());
      const plaintext = randomBytes(32);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyring.masters[master].get(version)!, nonce);
      cipher.setAAD(bindingOf(master, tenantId, version));
      const sealed = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
      return { plaintext, wrapped: `keyring:v${version}:${sealed.toString('base64')}` };
    },
    async unwrapDataKey(master, tenantId, wrapped) {
      const [, versionText, sealedText] = WRAPPED.exec(wrapped) ?? [];
      const version = Number(versionText);
      const key = keyring.masters[master].get(version);
      const sealed = Buffer.from(sealedText ?? '', 'base64');
      if (key === undefined || sealed.length < NONCE_BYTES + TAG_BYTES) throw notUnwrappable();
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(bindingOf(master, tenantId, version));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw notUnwrappable();
      }
    },
    async rotate(master) {
      const versions = keyring.masters[master];
      const next = new Map([...versions, [Math.max(...versions.keys()) + 1, newMasterKey()]]);
      const rotated: Keyring = { masters: { ...keyring.masters, [master]: next } };
      // On disk before its first use: a data key wrapped under a lost version would be lost too.
      await writeKeyring(path, rotated);
      keyring = rotated;
    },
  };
}

async function makeKeyring(path: string, isNeeded: () => Promise<boolean>): Promise<Keyring> {
  if (await isNeeded()) {
    throw new KeyringError(`the keyring ${path} is missing, and the database holds data sealed under it: restore it`);
  }
  const keyring: Keyring = {
    masters: { tokens: new Map([[1, newMasterKey()]]), cvc: new Map([[1, newMasterKey()]]) },
  };
  await writeKeyring(path, keyring);
  return keyring;
}

function bindingOf(master: MasterKey, tenantId: string, version: number): Buffer {
  return lengthPrefixed('tokenkeep data key', master, tenantId, String(version));
}

function notUnwrappable(): Error {
  return new Error('a data key does not unwrap: it was altered, or belongs to another tenant, master key or keyring');
}

import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { replaceFile } from '../platform/replace-file.ts';
import type { MasterKey } from './key-management.ts';

/** The master keys of a keyring: every version that a data key may be wrapped under, by its number. */
export interface Keyring {
  masters: Record<MasterKey, Map<number, Buffer>>;
}

/** The keyring cannot be used as it is. The message says what to do, and holds nothing of the file. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
}

const MASTER_KEYS = ['tokens', 'cvc'] as const satisfies MasterKey[];

const FORMAT = 1;
const KEY_BYTES = 32;

export function newMasterKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** Undefined where there is no file. Throws a KeyringError for one that is damaged or that others may read. */
export async function readKeyring(path: string): Promise<Keyring | undefined> {
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new KeyringError(`the keyring ${path} cannot be read (${error.code})`);
  });
  if (file === undefined) return undefined;
  if ((file.mode & 0o077) !== 0) {
    throw new KeyringError(`the keyring ${path} is open to other users: run chmod 600 ${path}`);
  }
  const keyring = parseKeyring(await readFile(path, 'utf8'));
  if (keyring === undefined) {
    throw new KeyringError(
      `the keyring ${path} is damaged: restore it from a backup, the data cannot be read without it`,
    );
  }
  return keyring;
}

/** Replaces the file as a whole: a crash leaves the old one or the new one. */
export async function writeKeyring(path: string, keyring: Keyring): Promise<void> {
  const masters = Object.fromEntries(
    MASTER_KEYS.map((master) => [
      master,
      [...keyring.masters[master]].map(([version, key]) => ({ version, key: key.toString('base64') })),
    ]),
  );
  await replaceFile(path, `${JSON.stringify({ format: FORMAT, masters }, undefined, 2)}\n`, 0o600);
}

function parseKeyring(text: string): Keyring | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(content) || content['format'] !== FORMAT || !isRecord(content['masters'])) return undefined;
  const tokens = parseVersions(content['masters']['tokens']);
  const cvc = parseVersions(content['masters']['cvc']);
  return tokens === undefined || cvc === undefined ? undefined : { masters: { tokens, cvc } };
}

function parseVersions(entries: unknown): Map<number, Buffer> | undefined {
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const versions = new Map<number, Buffer>();
  for (const entry of entries as unknown[]) {
    if (!isRecord(entry) || !Number.isInteger(entry['version']) || typeof entry['key'] !== 'string') return undefined;
    const key = Buffer.from(entry['key'], 'base64');
    if (key.length !== KEY_BYTES || versions.has(entry['version'] as number)) return undefined;
    versions.set(entry['version'] as number, key);
  }
  return versions;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

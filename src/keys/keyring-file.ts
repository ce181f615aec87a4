import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { replaceFile } from '../platform/replace-file.ts';
import type { MasterKey } from './key-management.ts';

/** One version of a master key. */
export interface KeyVersion {
  readonly key: Buffer;
  readonly madeAt: Date;
}

/** What a keyring holds. It is never altered, but replaced. */
export interface Keyring {
  /** Every version that a data key may be wrapped under, by its number. */
  readonly masters: Readonly<Record<MasterKey, ReadonlyMap<number, KeyVersion>>>;
  /** What authenticates the log; undefined until it is first needed. */
  readonly audit: Buffer | undefined;
}

/** A keyring as it was found in its file. */
export interface FoundKeyring {
  readonly keyring: Keyring;
  /** Differs from that of every other content that the file has had. */
  readonly edition: string;
}

/** The keyring cannot be used as it is. The message says what to do, and holds nothing of the file. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
}

const MASTER_KEYS = ['tokens', 'cvc'] as const satisfies MasterKey[];

const FORMAT = 1;
const KEY_BYTES = 32;

export function newKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/**
 * What the file holds; `known` itself where it has not changed since; undefined where there is no file. Throws a
 * KeyringError for one that is damaged or that others may read.
 */
export async function readKeyring(path: string, known?: FoundKeyring): Promise<FoundKeyring | undefined> {
  const file = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new KeyringError(`the keyring ${path} cannot be read (${error.code})`);
  });
  if (file === undefined) return undefined;
  if ((file.mode & 0o077n) !== 0n) {
    throw new KeyringError(`the keyring ${path} is open to other users: run chmod 600 ${path}`);
  }
  const edition = [file.ino, file.size, file.mtimeNs, file.ctimeNs].join();
  if (edition === known?.edition) return known;
  const keyring = parseKeyring(await readFile(path, 'utf8'), file.mtime);
  if (keyring === undefined) {
    throw new KeyringError(
      `the keyring ${path} is damaged: restore it from a backup, the data cannot be read without it`,
    );
  }
  return { keyring, edition };
}

/** Replaces the file as a whole: a crash leaves the old one or the new one. Writers must take turns. */
export async function writeKeyring(path: string, { masters, audit }: Keyring): Promise<void> {
  const content = {
    format: FORMAT,
    masters: Object.fromEntries(MASTER_KEYS.map((master) => [master, presentVersions(masters[master])])),
    ...(audit === undefined ? {} : { audit: audit.toString('base64') }),
  };
  await replaceFile(path, `${JSON.stringify(content, undefined, 2)}\n`, 0o600);
}

function presentVersions(versions: ReadonlyMap<number, KeyVersion>): object[] {
  return [...versions].map(([version, { key, madeAt }]) => ({
    version,
    key: key.toString('base64'),
    made_at: madeAt.toISOString(),
  }));
}

function parseKeyring(text: string, writtenAt: Date): Keyring | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(content) || content['format'] !== FORMAT || !isRecord(content['masters'])) return undefined;
  const tokens = parseVersions(content['masters']['tokens'], writtenAt);
  const cvc = parseVersions(content['masters']['cvc'], writtenAt);
  const audit = content['audit'] === undefined ? undefined : parseKey(content['audit']);
  if (tokens === undefined || cvc === undefined || (content['audit'] !== undefined && audit === undefined)) {
    return undefined;
  }
  return { masters: { tokens, cvc }, audit };
}

function parseVersions(entries: unknown, writtenAt: Date): Map<number, KeyVersion> | undefined {
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const versions = new Map<number, KeyVersion>();
  for (const entry of entries as unknown[]) {
    if (!isRecord(entry) || !Number.isInteger(entry['version'])) return undefined;
    const version = entry['version'] as number;
    const key = parseKey(entry['key']);
    // Files of earlier programs do not say; they were last written when a version was made.
    const madeAt = entry['made_at'] === undefined ? writtenAt : new Date(entry['made_at'] as string);
    if (key === undefined || versions.has(version) || Number.isNaN(madeAt.getTime())) return undefined;
    versions.set(version, { key, madeAt });
  }
  return versions;
}

function parseKey(text: unknown): Buffer | undefined {
  const key = typeof text === 'string' ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  return key.length === KEY_BYTES ? key : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

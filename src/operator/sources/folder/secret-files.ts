import { chmod, mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { replaceFile, syncFolder } from '../../../platform/replace-file.ts';
import { isEntryName } from '../../schema/core-kinds.ts';
import { isDnsLabel, isDnsSubdomain } from '../names.ts';
import type { OwnedSecret, StoredSecret } from '../types.ts';

/** Secrets as files: `<data-dir>/secrets/<namespace>/<name>/<entry>`. */
export interface SecretFiles {
  /** Entries of a Secret, whoever made it; undefined where there is none. */
  readEntries(namespace: string, name: string): Promise<Record<string, string> | undefined>;
  read(namespace: string, name: string): Promise<StoredSecret | 'foreign' | undefined>;
  /** As `ResourceSource.writeOwnedSecret`; this process is the only writer. */
  write(secret: OwnedSecret, before?: StoredSecret): Promise<void>;
  remove(namespace: string, name: string): Promise<void>;
}

// Owner, labels and annotations, as a Kubernetes Secret has them; marks the folder as ours.
const METADATA_FILE = '.metadata.json';

type SecretMetadata = Pick<OwnedSecret, 'owner' | 'labels' | 'annotations' | 'isRetained'>;

/** Folders are made with mode 0700, files with 0600; every file is replaced as a whole. */
export function createSecretFiles(root: string): SecretFiles {
  const folderOf = (namespace: string, name: string) => {
    if (!isDnsLabel(namespace) || !isDnsSubdomain(name)) throw new Error('No Secret can have this name or namespace');
    return path.join(root, namespace, name);
  };

  async function readEntries(namespace: string, name: string): Promise<Record<string, string> | undefined> {
    const folder = folderOf(namespace, name);
    const names = await readdir(folder).catch(ignoreMissing);
    if (names === undefined) return undefined;
    const entries: [string, string][] = [];
    for (const entry of names.filter((candidate) => !candidate.startsWith('.') && isEntryName(candidate))) {
      const value = await readFile(path.join(folder, entry), 'utf8').catch(ignoreMissing);
      if (value !== undefined) entries.push([entry, value]);
    }
    return Object.fromEntries(entries);
  }

  async function readMetadata(folder: string): Promise<SecretMetadata | undefined> {
    const text = await readFile(path.join(folder, METADATA_FILE), 'utf8').catch(ignoreMissing);
    try {
      return text === undefined ? undefined : (JSON.parse(text) as SecretMetadata);
    } catch {
      return undefined;
    }
  }

  async function read(namespace: string, name: string): Promise<StoredSecret | 'foreign' | undefined> {
    const data = await readEntries(namespace, name);
    const metadata = await readMetadata(folderOf(namespace, name));
    if (metadata !== undefined) {
      return stored({ namespace, name, ...metadata, data: data ?? {} });
    }
    // A folder without entries is what is left where a person removed the files.
    return data === undefined || Object.keys(data).length === 0 ? undefined : 'foreign';
  }

  return {
    readEntries,
    read,
    async write(secret, before) {
      if (before !== undefined && isDeepStrictEqual(stored(secret), before)) return;
      const { namespace, name, owner, labels, annotations, data, isRetained } = secret;
      const folder = folderOf(namespace, name);
      const current = await read(namespace, name);
      if (current === 'foreign') throw new Error(`The Secret ${namespace}/${name} is not ours to write`);
      for (const entry of Object.keys(data)) {
        if (!isEntryName(entry) || entry.startsWith('.')) throw new Error('An entry of a Secret has no usable name');
      }
      const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
      for (const made of [root, path.dirname(folder), folder]) await chmod(made, 0o700);
      if (isNew) for (const parent of [root, path.dirname(folder)]) await syncFolder(parent);
      const metadata: SecretMetadata = { owner, labels, annotations, isRetained };
      // First, so that a crash halfway leaves a folder that is known as ours.
      await replaceIfChanged(path.join(folder, METADATA_FILE), `${JSON.stringify(metadata, undefined, 1)}\n`);
      for (const [entry, value] of Object.entries(data)) await replaceIfChanged(path.join(folder, entry), value);
      const gone = Object.keys(current?.data ?? {}).filter((entry) => !Object.hasOwn(data, entry));
      for (const entry of gone) await rm(path.join(folder, entry), { force: true });
    },
    async remove(namespace, name) {
      const folder = folderOf(namespace, name);
      const current = await read(namespace, name);
      if (current === undefined || current === 'foreign') return;
      await rm(folder, { recursive: true, force: true });
      await rmdir(path.dirname(folder)).catch(() => undefined);
    },
  };
}

function stored(secret: OwnedSecret): StoredSecret {
  return { ...secret, isImmutable: false, version: undefined };
}

async function replaceIfChanged(file: string, content: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(ignoreMissing)) !== content) await replaceFile(file, content, 0o600);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR') return undefined;
  throw error;
}

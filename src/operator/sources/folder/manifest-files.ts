import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ResourceDefinition } from '../../schema/definitions.ts';
import { readManifests } from './manifest.ts';
import type { ManifestDocument } from './manifest.ts';
import { snapshotTree } from './tree.ts';

/** What stands in the manifests folder at one moment. */
export interface FolderContent {
  /** In the order of their files, then of their place in the file. */
  documents: ManifestDocument[];
  /** Folders that cannot be listed. */
  unreadable: string[];
}

export interface ManifestFiles {
  /** Reads what changed since the last call. Undefined where nothing did. */
  read(): Promise<FolderContent | undefined>;
}

interface CachedFile {
  stamp: string;
  documents: ManifestDocument[];
}

// Twice what etcd takes of one object, so that no honest file is refused.
const MAX_FILE_BYTES = 3 * 1024 * 1024;

/** Reads the YAML files below a folder; a file that did not change is not read again. */
export function createManifestFiles(folder: string, definitions: readonly ResourceDefinition[]): ManifestFiles {
  let cache = new Map<string, CachedFile>();
  let unreadableBefore: string | undefined;

  return {
    async read() {
      const { files, unreadable } = await snapshotTree(folder, (name) => /\.(ya?ml|json)$/i.test(name));
      const next = new Map<string, CachedFile>();
      for (const [file, stamp] of files) {
        const cached = cache.get(file);
        const documents =
          cached?.stamp === stamp ? cached.documents : await readFileDocuments(folder, file, definitions);
        next.set(file, { stamp, documents });
      }
      const isSame =
        unreadable.join() === unreadableBefore &&
        next.size === cache.size &&
        [...next].every(([file, { stamp }]) => cache.get(file)?.stamp === stamp);
      cache = next;
      unreadableBefore = unreadable.join();
      if (isSame) return undefined;
      return { documents: [...next.values()].flatMap((file) => file.documents), unreadable };
    },
  };
}

async function readFileDocuments(
  folder: string,
  file: string,
  definitions: readonly ResourceDefinition[],
): Promise<ManifestDocument[]> {
  const fault = (message: string): ManifestDocument[] => [
    { file, line: 1, reasons: [{ line: 1, path: '', message }], reasonsOf: () => [] },
  ];
  try {
    const full = path.join(folder, file);
    if ((await stat(full)).size > MAX_FILE_BYTES) return fault('is larger than 3 MiB');
    return readManifests(file, await readFile(full, 'utf8'), definitions);
  } catch (error) {
    // The parser recurses: a document that nests too deeply ends its stack.
    return fault(error instanceof RangeError ? 'nests too deeply' : 'cannot be read');
  }
}

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { STATUS_FILE } from '../../../domain/resource-status.ts';
import type { StatusReport } from '../../../domain/resource-status.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { replaceFile } from '../../../platform/replace-file.ts';
import type { ObjectRef, ResourceKind, ResourceStatus } from '../types.ts';

/** What has to outlive the process about one resource. */
export interface ResourceRecord {
  ref: ObjectRef<ResourceKind>;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  generation: number;
  /** Salted digest of the spec: tells whether a document changed while the program was stopped. */
  specDigest: string;
  /** Left out for reactors: their configuration may hold secrets, and the API keeps it sealed. */
  spec?: JsonObject;
  /** Kept of a reactor's spec: whoever cleans up asks for the last word on it. */
  deletionPolicy?: Json | undefined;
  file: string;
  creationTimestamp: string;
  deletionTimestamp?: string;
  /** Whether something was declared that has to be cleaned up once the resource is deleted. */
  finalizer: boolean;
  status?: ResourceStatus;
}

/** What a folder remembers of an earlier run. */
export interface FolderMemory {
  /** Random, of this folder only: without it a digest, shown elsewhere, confirms no guess at the spec behind it. */
  salt: string;
  records: ResourceRecord[];
}

/** The whole of the file. */
export interface StatusFileContent extends StatusReport, FolderMemory {}

export interface StatusFile {
  /** The memory of an earlier run; undefined where there was none. Throws where the file is damaged. */
  load(): Promise<FolderMemory | undefined>;
  /** Resolves once what `render` returns, called at or after this call, is on disk. */
  save(): Promise<void>;
}

/** `<data-dir>/status.json`, written whole, atomically, readable by its owner only. */
export function createStatusFile(
  dataDir: string,
  render: () => { report: StatusReport; memory: FolderMemory },
): StatusFile {
  const file = path.join(dataDir, STATUS_FILE);
  let writing: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function write(): Promise<void> {
    const { report, memory } = render();
    const content: StatusFileContent = { ...report, ...memory };
    await replaceFile(file, `${JSON.stringify(content, undefined, 1)}\n`, 0o600);
  }

  async function writeAfter(previous: Promise<void> | undefined): Promise<void> {
    await previous?.catch(() => undefined);
    next = undefined;
    writing = write();
    await writing;
  }

  return {
    async load() {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (text === undefined) return undefined;
      try {
        const { salt, records } = JSON.parse(text) as StatusFileContent;
        return { salt, records };
      } catch {
        throw new Error(
          `${file} is damaged. Move it away to go on; documents deleted while stopped stay in the API then.`,
        );
      }
    },
    // Writers that come while one write is under way share the write after it.
    save() {
      return (next ??= writeAfter(writing));
    },
  };
}

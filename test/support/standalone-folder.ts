import { chmod, cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What one standalone lives on: its data folder and its manifests. */
export interface StandaloneFolder {
  readonly root: string;
  readonly dataDir: string;
  readonly manifests: string;
  /** Writes a file of manifests: text, or documents of `tokenkeep.dev/v1alpha1`. */
  write(file: string, content: string | readonly ManifestDocument[]): Promise<void>;
  remove(file: string): Promise<void>;
  /** Removes everything, also a database that had to go elsewhere. */
  dispose(): Promise<void>;
}

export interface ManifestDocument {
  kind: string;
  name: string;
  spec: object;
}

/**
 * The tenant of a test that polls, or sends all that it can: the rate limits of the specification would refuse it. With
 * `--ip-rate-limits off`, nothing is limited.
 */
export const UNLIMITED_TENANT: ManifestDocument = {
  ...{ kind: 'Tenant', name: 'default' },
  spec: { quotas: { rateLimit: 'Unlimited' } },
};

/** Empty, or with a copy of the manifests of `from`. */
export async function createStandaloneFolder(from?: string): Promise<StandaloneFolder> {
  const root = await mkdtemp(join(tmpdir(), 'tokenkeep-standalone-'));
  // As root, Postgres runs under another account, which must reach its files.
  await chmod(root, 0o711);
  const dataDir = join(root, 'data');
  const manifests = join(root, 'manifests');
  if (from === undefined) await mkdir(manifests);
  else await cp(from, manifests, { recursive: true });
  return {
    ...{ root, dataDir, manifests },
    write: (file, content) =>
      writeFile(join(manifests, file), typeof content === 'string' ? content : content.map(render).join('')),
    remove: (file) => rm(join(manifests, file)),
    async dispose() {
      const database = await realpath(join(dataDir, 'postgres')).catch(() => undefined);
      if (database !== undefined) await rm(database, { recursive: true, force: true });
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** JSON is YAML. */
function render({ kind, name, spec }: ManifestDocument): string {
  return `---\n${JSON.stringify({ apiVersion: 'tokenkeep.dev/v1alpha1', kind, metadata: { name }, spec })}\n`;
}

import { randomBytes } from 'node:crypto';
import { mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Puts the entries of a Secret at a folder as a kubelet does: files that are links into `..data`, which is itself a
 * link, and is replaced at once by another when the Secret changes.
 */
export async function mountSecret(folder: string, entries: Readonly<Record<string, string | Buffer>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const version = `..${Date.now()}.${randomBytes(4).toString('hex')}`;
  await mkdir(join(folder, version));
  for (const [name, content] of Object.entries(entries)) {
    await writeFile(join(folder, version, name), content, { mode: 0o440 });
    await symlink(join('..data', name), join(folder, name)).catch(ignoreExisting);
  }
  const before = await readlink(join(folder, '..data')).catch(() => undefined);
  await symlink(version, join(folder, '..data_new'));
  await rename(join(folder, '..data_new'), join(folder, '..data'));
  if (before !== undefined) await rm(join(folder, before), { recursive: true });
}

function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

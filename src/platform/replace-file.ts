import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * Replaces a file as a whole, durably: a crash at any moment leaves the old content or the new one, and once the
 * promise resolves it is the new one. Writers of one file must take turns.
 */
export async function replaceFile(file: string, content: string, mode: number): Promise<void> {
  const folder = path.dirname(file);
  // Hidden, and in the same folder: a rename is atomic within one file system only.
  const unfinished = path.join(folder, `.${path.basename(file)}.tmp`);
  await rm(unfinished, { force: true });
  const handle = await open(unfinished, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  await syncFolder(folder);
}

/** Makes the names in a folder durable: a file that was made, renamed or removed may else come back after a crash. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

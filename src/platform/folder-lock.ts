import { join } from 'node:path';
import { takeProcessLock, type ProcessLock } from './process-lock.ts';

/** Another process that is alive holds the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/**
 * Takes a folder for this process, until it releases it or ends, however it ends. Throws FolderInUse where a process of
 * this machine has it; the message names the flag that chooses the folder.
 */
export async function lockFolder(folder: string, folderFlag: string): Promise<ProcessLock> {
  const lock = await takeProcessLock(join(folder, 'lock'));
  if ('heldBy' in lock) {
    throw new FolderInUse(
      `${folder} is in use by process ${lock.heldBy}: stop that one, or choose another with ${folderFlag}`,
    );
  }
  return lock;
}

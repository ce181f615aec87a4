import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** The files below a folder, at one moment. Paths are relative to it, with `/`. */
export interface TreeSnapshot {
  /** Path to a stamp that changes whenever the file does, in alphabetical order. */
  files: Map<string, string>;
  /** Folders that cannot be listed, which tells nothing about their files. The root is the empty path. */
  unreadable: string[];
}

// Ends loops of symbolic links.
const MAX_DEPTH = 16;

/** Every file below `root` whose name `isWanted` takes; hidden folders and files only where `hidden` is set. */
export async function snapshotTree(
  root: string,
  isWanted: (name: string) => boolean,
  hidden = false,
): Promise<TreeSnapshot> {
  const found: [string, string][] = [];
  const unreadable: string[] = [];

  async function visit(folder: string, depth: number): Promise<void> {
    const names = await readdir(path.join(root, folder)).catch(() => undefined);
    if (names === undefined) {
      unreadable.push(folder);
      return;
    }
    for (const name of names) {
      if (name.startsWith('.') && !hidden) continue;
      const child = folder === '' ? name : `${folder}/${name}`;
      const stats = await stat(path.join(root, child), { bigint: true }).catch(() => undefined);
      if (stats?.isDirectory() && depth < MAX_DEPTH) await visit(child, depth + 1);
      else if (stats?.isFile() && isWanted(name)) {
        found.push([child, `${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}:${stats.ino}`]);
      }
    }
  }

  await visit('', 0);
  return { files: new Map(found.sort(([a], [b]) => (a < b ? -1 : 1))), unreadable };
}

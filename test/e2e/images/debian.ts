import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ImageStore } from './store.ts';

const run = promisify(execFile);

/** A tree of files made of Debian's packages. */
export interface DebianTree {
  readonly name: string;
  /** `extract`: these packages alone, with no script of theirs run. `minbase`: with a shell and a package manager. */
  readonly variant: 'extract' | 'minbase';
  readonly packages: readonly string[];
  /** Of these packages, files that are left out: patterns, as dpkg has them. */
  readonly without?: readonly string[];
  /** Shell commands that are run before `packages` are installed. `$1` is the tree. */
  readonly preparations?: readonly string[];
}

/** Path of the tree as a tar archive, and what tells it from others of its name. */
export interface TreeArchive {
  readonly file: string;
  readonly version: string;
}

/** Downloads and packs it, once for this machine. */
export async function debianTree(store: ImageStore, tree: DebianTree): Promise<TreeArchive> {
  const { name, variant, packages, without = [], preparations = [] } = tree;
  const version = createHash('sha256').update(JSON.stringify(tree)).digest('hex').slice(0, 12);
  const file = join(store.folder, `${name}-${version}.tar`);
  if (!(await exists(file))) {
    const hooks = preparations.map((command) => `--essential-hook=${command}`);
    const excluded = without.map((pattern) => `--dpkgopt=path-exclude=${pattern}`);
    const args = [`--variant=${variant}`, `--include=${packages.join(',')}`, ...excluded, ...hooks];
    await run('nice', ['-n', '10', 'mmdebstrap', '--quiet', ...args, 'bookworm', `${file}.part.tar`], {
      maxBuffer: 64 * 1024 * 1024,
    });
    await rename(`${file}.part.tar`, file);
  }
  return { file, version };
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

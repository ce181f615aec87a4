import { appendFileSync, mkdtempSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCanaryScanner, type CanaryScanner, randomCardNumber, type Sighting } from './canary.ts';

/**
 * Secrets of this run's tests, that must turn up nowhere when it ends: not in the Postgres that they share, in its
 * write-ahead log, in the transit server's storage and logs, in anything that programs and vaults printed, measured or
 * left in temporary folders, nor in core files.
 *
 * Only random values can be looked for. Fixed ones, such as 4242424242424242, stand in the clear by the tests' own
 * doing: in metadata, in names, in rows that tests put into tables.
 */
const planted = new Map<string, string>();

let outputFolder: string | undefined;

/** All digits, and no more of them than fractions of a second have in logs: these turn up by chance in a whole run. */
const LIKE_ANY_NUMBER = /^\d{1,11}$/;

/**
 * Begins to look for a value; a card number of its own where none is given. One that would turn up by chance is given
 * back all the same, and not looked for: its own test has to, in less than what a whole run leaves behind.
 */
export function plantedCanary(what: string, value: string = randomCardNumber()): string {
  if (!LIKE_ANY_NUMBER.test(value)) planted.set(`${what} #${planted.size + 1}`, value);
  return value;
}

/** What is looked for, by what it stands for. */
export function plantedCanaries(): ReadonlyMap<string, string> {
  return planted;
}

/** Keeps what was printed or measured until the run ends. `source` tells where a sighting comes from. */
export function keepOutput(source: string, text: string): void {
  outputFolder ??= mkdtempSync(join(tmpdir(), 'tokenkeep-output-'));
  appendFileSync(join(outputFolder, `${source}.txt`), `${text}\n`);
}

export interface RunScan {
  readonly canaries: number;
  readonly files: number;
  readonly bytes: number;
  readonly sightings: readonly Sighting[];
}

/** Pieces in which large files are read; each overlaps the one before. */
const PIECE_BYTES = 64 * 2 ** 20;

/** Kubernetes keeps Secrets there in the clear, unless it is told to encrypt them: where keys of applications belong. */
const STORE_OF_KUBERNETES = /\/tokenkeep-kubernetes-[^/]+\/etcd\//;

/** The files below a folder, as they are at this moment: others may be taking them away. */
async function filesBelow(folder: string, since: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !STORE_OF_KUBERNETES.test(file));
  const recent = await Promise.all(
    files.map(async (file) => ((await stat(file).catch(() => undefined))?.mtimeMs ?? 0) >= since),
  );
  return files.filter((_, index) => recent[index]);
}

async function scanFile(scanner: CanaryScanner, file: string): Promise<{ bytes: number; sightings: Sighting[] }> {
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined) return { bytes: 0, sightings: [] };
  const sightings: Sighting[] = [];
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    sightings.push(...scanner.scan(file, content.subarray(Math.max(at - 1024, 0), at + PIECE_BYTES)));
  }
  return { bytes: content.length, sightings };
}

/** Core files that the run's programs may have left, in its own folder and that of temporary files. */
async function coreFiles(): Promise<string[]> {
  const folders = [process.cwd(), tmpdir()];
  const names = await Promise.all(folders.map((folder) => readdir(folder)));
  return folders.flatMap((folder, index) =>
    names[index]!.filter((name) => /^core(\.\d+)?$/.test(name)).map((name) => join(folder, name)),
  );
}

/**
 * Looks for `canaries` in `folders`, in every temporary folder of ours and in core files, as far as they were written
 * `since` then, in milliseconds since the epoch.
 */
export async function scanForCanaries(
  canaries: Readonly<Record<string, string>>,
  { folders, since }: { folders: readonly string[]; since: number },
): Promise<RunScan> {
  const scanner = createCanaryScanner(canaries);
  const temporary = (await readdir(tmpdir())).filter((name) => name.startsWith('tokenkeep-'));
  const roots = new Set([...folders, ...temporary.map((name) => join(tmpdir(), name))]);
  const files = new Set(await coreFiles());
  for (const root of roots) for (const file of await filesBelow(root, since)) files.add(file);
  let bytes = 0;
  const sightings: Sighting[] = [];
  for (const file of files) {
    const scanned = await scanFile(scanner, file);
    bytes += scanned.bytes;
    sightings.push(...scanned.sightings);
  }
  return { canaries: Object.keys(canaries).length, files: files.size, bytes, sightings };
}

/** Looks for all that was planted in this run. */
export async function scanRun(options: { folders: readonly string[]; since: number }): Promise<RunScan> {
  return scanForCanaries(Object.fromEntries(planted), options);
}

/** Whether there is anything to look for. */
export function hasPlanted(): boolean {
  return planted.size > 0;
}

/** Removes what `keepOutput` has kept. */
export async function dropOutput(): Promise<void> {
  if (outputFolder !== undefined) await rm(outputFolder, { recursive: true, force: true });
}

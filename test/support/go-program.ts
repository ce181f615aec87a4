import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Context } from 'mocha';

const run = promisify(execFile);

const BUILD_DEADLINE_MS = 30 * 60_000;

/** A program that is built from the sources that a Go module of ours pins. */
export interface GoProgram {
  /** Of the file, and what messages call it. */
  readonly name: string;
  /** Folder with go.mod and go.sum. */
  readonly module: URL;
  /** Import path of its main package. */
  readonly package: string;
  /** Files of our own that it is made of, beside go.mod and go.sum. */
  readonly sources?: readonly string[];
  /** Further arguments of the linker: `-X path.name=value`. */
  readonly linkerFlags?: string;
  /** Said before it is built, where that takes long: `about 5 minutes`. */
  readonly takes?: string;
}

/** It cannot be built on this machine. */
export class NoGoProgramError extends Error {
  override readonly name = 'NoGoProgramError';
}

/**
 * Builds a program outside of the checkout, where another checkout finds it. What a module's files say decides what is
 * built: another version lands in another folder.
 *
 * @returns the path of the program
 * @throws NoGoProgramError where Go is missing or too old, or its modules cannot be had
 */
export async function installGoProgram({ name, ...source }: GoProgram): Promise<string> {
  const files = ['go.mod', 'go.sum', ...(source.sources ?? [])];
  const contents = await Promise.all(files.map((file) => readFile(new URL(file, source.module))));
  const version = createHash('sha256').update(Buffer.concat(contents)).digest('hex').slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenkeep', 'tools');
  const program = join(cache, `${name}-${version}`, name);
  if (await isProgram(program)) return program;

  if (source.takes !== undefined) process.stderr.write(`Building ${name}: ${source.takes}, once for this machine\n`);
  await mkdir(cache, { recursive: true });
  const linkerFlags = ['-s -w', source.linkerFlags].filter((flags) => flags !== undefined).join(' ');
  // Go puts its result in place as a whole: what is there is never half a program.
  await run('go', ['build', '-trimpath', '-ldflags', linkerFlags, '-o', program, source.package], {
    cwd: fileURLToPath(source.module),
    timeout: BUILD_DEADLINE_MS,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
  }).catch((error: unknown) => {
    throw new NoGoProgramError(`${name} cannot be built: ${reasonOf(error)}`, { cause: error });
  });
  return program;
}

/**
 * The programs, built once. Skips the tests where one cannot be had, saying so; in CI, fails them. To be called in a
 * `before` hook.
 */
export async function requireGoPrograms(context: Context, programs: readonly GoProgram[]): Promise<string[]> {
  context.timeout(BUILD_DEADLINE_MS);
  try {
    const paths: string[] = [];
    for (const program of programs) paths.push(await installGoProgram(program));
    return paths;
  } catch (error) {
    if (!(error instanceof NoGoProgramError) || process.env['CI'] === 'true') throw error;
    process.stderr.write(`SKIPPED: ${error.message}; install Go\n`);
    return context.skip();
  }
}

function isProgram(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function reasonOf(error: unknown): string {
  const { code, stderr } = error as { code?: unknown; stderr?: string };
  if (code === 'ENOENT') return 'Go is not on this machine';
  return stderr?.trim().split('\n').at(-1) ?? String(code);
}

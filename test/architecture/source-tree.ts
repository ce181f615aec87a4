import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SourceFile } from './arrows.ts';

/** Every TypeScript file of src. */
export function readSourceTree(): SourceFile[] {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  return globSync('**/*.ts', { cwd: src })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(src + path, 'utf8') }));
}

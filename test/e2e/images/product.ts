import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { baseImages } from './bases.ts';
import { localName, type ImageStore } from './store.ts';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Our image, made by the Dockerfile from what the checkout holds now. Resolves with its name. */
export async function productImage(store: ImageStore): Promise<string> {
  const { base, build } = await baseImages(store);
  const { version } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as { version: string };
  const revision = await run('git', ['-C', ROOT, 'rev-parse', 'HEAD']).then(
    ({ stdout }) => stdout.trim(),
    // No checkout, or not of this user.
    () => 'unknown',
  );
  const image = localName('tokenkeep', version);
  await store.build(image, ROOT, { BUILD_IMAGE: build, BASE_IMAGE: base, VERSION: version, REVISION: revision });
  return image;
}

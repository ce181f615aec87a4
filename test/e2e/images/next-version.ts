import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localName, type ImageStore } from './store.ts';

const MANIFEST = fileURLToPath(new URL('../../../package.json', import.meta.url));

/** Later than any that is released. */
export const NEXT_VERSION = '99.0.0';

/** It adds to what is there, as a migration that both versions can work with does. */
export const NEXT_MIGRATION = {
  number: 9999,
  name: 'next_version',
  sql: `alter table tokens add column next_version text;
create index next_version_tokens on tokens (next_version) where next_version is not null;
create table next_version (id integer primary key);
`,
};

/** Our image as a later release would be: another version, with one more migration. Resolves with its name. */
export async function nextVersionImage(store: ImageStore, folder: string, image: string): Promise<string> {
  const files = join(folder, 'next-version');
  await mkdir(files, { recursive: true });
  const manifest = JSON.parse(await readFile(MANIFEST, 'utf8')) as object;
  await writeFile(join(files, 'package.json'), JSON.stringify({ ...manifest, version: NEXT_VERSION }));
  await writeFile(join(files, 'migration.sql'), NEXT_MIGRATION.sql);
  const migration = `${NEXT_MIGRATION.number}_${NEXT_MIGRATION.name}.sql`;
  const next = localName('tokenkeep', NEXT_VERSION);
  await store.assemble(next, {
    from: image,
    parts: [
      { from: join(files, 'package.json'), to: '/app/package.json', mode: '0644' },
      { from: join(files, 'migration.sql'), to: `/app/dist/data/migrations/${migration}`, mode: '0644' },
    ],
  });
  return next;
}

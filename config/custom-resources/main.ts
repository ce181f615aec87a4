import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { renderPage } from './page.ts';
import type { Definition } from './schema.ts';

/** As somebody meets them: what a vault is, who may call it, what they see, what runs. */
const ORDER = ['tenants', 'applications', 'accessrules', 'reactors'];

const files = ORDER.map((plural) => new URL(`../../crds/${plural}.yaml`, import.meta.url));
const definitions = await Promise.all(files.map(async (file) => parse(await readFile(file, 'utf8')) as Definition));
process.stdout.write(renderPage(definitions));

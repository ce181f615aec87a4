import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SVC_FILES } from '../domain/reactor-certificates.ts';
import { SettingFault } from './setting.ts';
import { parseExistingFolder } from './values.ts';

/** As the operator writes the Secrets that are mounted there. */
const FILES = ['tls.crt', 'tls.key', 'ca.crt'];

/** Beside these, in that of the API. */
const SVC = Object.values(SVC_FILES);

/** The absolute path of a folder with a certificate, its private key, and the authority that others are known by. */
export function parseTlsFolder(text: string): string {
  return folderWith(FILES, text);
}

/** As above, of the API: also with what it shows to `svc`. */
export function parseApiTlsFolder(text: string): string {
  return folderWith([...FILES, ...SVC], text);
}

function folderWith(files: readonly string[], text: string): string {
  const folder = parseExistingFolder(text);
  const missing = files.filter((name) => !statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  if (missing.length > 0) {
    throw new SettingFault(`must hold ${files.join(', ')}; ${folder} lacks ${missing.join(', ')}`);
  }
  return folder;
}

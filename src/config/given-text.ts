import { readFileSync } from 'node:fs';
import { environmentName, fileFlag, SettingFault, settingName, type Setting } from './setting.ts';

/** What a command line and an environment say about one setting. */
export interface GivenText {
  /** How faults call the place that it was found in. */
  readonly name: string;
  /** Undefined where nothing is given. Throws a SettingFault where it is not to be had. */
  readonly read: () => string | undefined;
}

/** Finds the text of a setting: its flag, else its variable; or, of either, the one that names a file. */
export function findText(
  { flag, variable, mayBeInFile }: Setting<unknown>,
  flags: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
): GivenText {
  if (variable !== undefined) return { name: variable, read: () => environment[variable] };
  const name = settingName(flag);
  const places = [(flag: string) => flags.get(flag), (flag: string) => environment[environmentName(flag)]];
  for (const at of places) {
    const [text, file] = [at(flag), mayBeInFile ? at(fileFlag(flag)) : undefined];
    if (text !== undefined && file !== undefined) return { name, read: () => refuse(flag) };
    if (text !== undefined) return { name, read: () => text };
    if (file !== undefined) return { name: settingName(fileFlag(flag)), read: () => readText(file) };
  }
  return { name, read: () => undefined };
}

function refuse(flag: string): never {
  throw new SettingFault(`cannot be given together with --${fileFlag(flag)}`);
}

/** Without the line break that editors put at the end. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    throw new SettingFault(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

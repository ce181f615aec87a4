import { didYouMean } from './did-you-mean.ts';
import { findText } from './given-text.ts';
import { readFlags } from './read-flags.ts';
import { ENVIRONMENT_PREFIX, SettingFault, environmentName, flagsOf } from './setting.ts';
import type { Setting, Settings } from './setting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type SettingsRead<C> =
  | { readonly outcome: 'help' }
  | { readonly outcome: 'faulty'; readonly faults: readonly string[] }
  | { readonly outcome: 'ok'; readonly config: Readonly<C> };

export interface SettingsReader<C> {
  readonly settings: Settings<C>;
  /** Faults that only several settings together show. Those that are wrong by themselves are left out. */
  readonly crossCheck?: (config: Partial<C>) => readonly string[];
}

/** Reads a role's settings, and finds all that is wrong with them, not only the first fault. */
export function readSettings<C>(
  reader: SettingsReader<C>,
  argv: readonly string[],
  environment: Environment,
  /** Flags of all roles: the variable of another role's flag is no fault, since one environment may serve several. */
  flagsOfAllRoles: readonly string[],
): SettingsRead<C> {
  const { settings, crossCheck } = reader;
  const entries = Object.entries(settings) as [keyof C, Setting<C[keyof C]>][];
  const flags = flagsOf(entries.map(([, setting]) => setting as Setting<unknown>));
  const switches = entries.filter(([, { placeholder }]) => placeholder === '').map(([, setting]) => setting.flag);
  const read = readFlags(argv, flags, switches);
  if (read.help) return { outcome: 'help' };

  const faults = [...read.faults, ...unknownVariables(environment, flagsOfAllRoles)];

  const config: Partial<C> = {};
  for (const [property, setting] of entries) {
    const { name, read: readText } = findText(setting, read.values, environment);
    try {
      config[property] = valueOf(setting, readText());
    } catch (error) {
      if (!(error instanceof SettingFault)) throw error;
      const alreadyReported = read.faults.some((fault) => fault.startsWith(`${name}:`));
      if (!alreadyReported) faults.push(`${name}: ${error.message}`);
    }
  }
  faults.push(...(crossCheck?.(config) ?? []));
  if (faults.length > 0) return { outcome: 'faulty', faults };
  return { outcome: 'ok', config: Object.freeze(config as C) };
}

function valueOf<T>(setting: Setting<T>, text: string | undefined): T {
  if (text !== undefined) return setting.parse(text);
  if (setting.fallback === 'required') throw new SettingFault('must be given');
  return 'text' in setting.fallback ? setting.parse(setting.fallback.text) : setting.fallback.value;
}

/** A misspelt variable would otherwise be ignored, and its setting silently stay at its default. */
function unknownVariables(environment: Environment, knownFlags: readonly string[]): string[] {
  const known = new Set(knownFlags.map(environmentName));
  return Object.keys(environment)
    .filter((name) => name.startsWith(ENVIRONMENT_PREFIX) && !known.has(name))
    .map((name) => `${name}: unknown environment variable${didYouMean(name, known)}`);
}

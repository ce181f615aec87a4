/**
 * One setting of a role. Its flag is `--<flag>`, its environment variable `TOKENKEEP_<FLAG>`; where both are given the
 * flag wins.
 */
export interface Setting<T> {
  readonly flag: string;
  /** The only source of a secret, in place of both: command lines can be read by everybody on the machine. */
  readonly variable?: string;
  /**
   * Whether `--<flag>-file` may name a file that holds the text, in place of the text itself: for what may hold a
   * password.
   */
  readonly mayBeInFile?: true;
  /** Stands for the value in `--help`; empty for a switch, whose flag stands alone and gives `on`. */
  readonly placeholder: string;
  /** One line for `--help`. */
  readonly description: string;
  /** Used where neither flag nor variable is given. */
  readonly fallback: Fallback<T>;
  /**
   * Throws a SettingFault, whose message reads after the setting's name. It must not quote a value that may hold a
   * password.
   */
  readonly parse: (text: string) => T;
}

/**
 * A text is parsed like a given one, and shown by `--help`; otherwise the setting is required, or a value stands in.
 */
export type Fallback<T> = { readonly text: string } | { readonly value: T } | 'required';

/** Every setting of a configuration, keyed by its property there. */
export type Settings<C> = { readonly [K in keyof C]: Setting<C[K]> };

/** A flag that stands alone. In the environment, its variable is `on` or `off`. */
export function switchSetting(flag: string, description: string): Setting<boolean> {
  const parse = (text: string): boolean => {
    if (text !== SWITCHED_ON && text !== 'off') throw new SettingFault(`must be ${SWITCHED_ON} or off`);
    return text === SWITCHED_ON;
  };
  return { flag, placeholder: '', description, fallback: { value: false }, parse };
}

/** What a switch gives that stands on the command line. */
export const SWITCHED_ON = 'on';

/** Something is wrong with the value of a setting. */
export class SettingFault extends Error {
  override readonly name = 'SettingFault';
}

export const ENVIRONMENT_PREFIX = 'TOKENKEEP_';

/** `data-dir` -> `TOKENKEEP_DATA_DIR`. */
export function environmentName(flag: string): string {
  return ENVIRONMENT_PREFIX + flag.toUpperCase().replaceAll('-', '_');
}

/** How faults call a setting: by both names, since the reader may have used either. */
export function settingName(flag: string): string {
  return `--${flag} (${environmentName(flag)})`;
}

/** `database-url` -> `database-url-file`. */
export function fileFlag(flag: string): string {
  return `${flag}-file`;
}

/** The flags of those settings that have one. */
export function flagsOf(settings: readonly Setting<unknown>[]): string[] {
  return settings
    .filter(({ variable }) => variable === undefined)
    .flatMap(({ flag, mayBeInFile }) => (mayBeInFile ? [flag, fileFlag(flag)] : [flag]));
}

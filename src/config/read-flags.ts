import { parseArgs } from 'node:util';
import { didYouMean } from './did-you-mean.ts';
import { settingName, SWITCHED_ON } from './setting.ts';

export interface FlagsRead {
  readonly values: ReadonlyMap<string, string>;
  readonly help: boolean;
  readonly faults: readonly string[];
}

/**
 * Reads `--flag value` and `--flag=value`, as strictly as parseArgs' own strict mode, which would stop at the first
 * fault. Faults never quote a value: a misspelt flag may have been meant to take a password.
 */
export function readFlags(
  argv: readonly string[],
  flags: readonly string[],
  switches: readonly string[] = [],
): FlagsRead {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(flags.map((flag) => [flag, { type: switches.includes(flag) ? 'boolean' : 'string' }])),
      help: { type: 'boolean', short: 'h' },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  const faults: string[] = [];
  let help = false;
  let unknownAt: number | undefined;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      // The value of a flag that was misspelt is no second fault.
      if (unknownAt !== token.index - 1) faults.push(`argument ${token.index + 1}: every setting is given by a flag`);
    } else if (token.kind === 'option') {
      if (token.name === 'help') {
        help = true;
      } else if (!flags.includes(token.name)) {
        unknownAt = token.inlineValue === true ? undefined : token.index;
        faults.push(
          `${token.rawName}: unknown flag${didYouMean(
            token.rawName,
            flags.map((flag) => `--${flag}`),
          )}`,
        );
      } else if (values.has(token.name)) {
        faults.push(`${settingName(token.name)}: is given twice`);
      } else if (switches.includes(token.name)) {
        if (token.value === undefined) values.set(token.name, SWITCHED_ON);
        else faults.push(`${settingName(token.name)}: takes no value`);
      } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith('-'))) {
        faults.push(`${settingName(token.name)}: needs a value`);
      } else {
        values.set(token.name, token.value);
      }
    }
  }
  return { values, help, faults };
}

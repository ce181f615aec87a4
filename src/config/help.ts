import { environmentName, fileFlag } from './setting.ts';
import type { Setting } from './setting.ts';

/** What `tokenkeep --help` prints. */
export function overallHelp(roles: Readonly<Record<string, { readonly summary: string }>>): string {
  const rows = Object.entries(roles).map(([role, { summary }]) => [role, summary] as const);
  return [
    'tokenkeep: a token vault that you run yourself',
    '',
    'Usage: tokenkeep <command> [flags]',
    '',
    'Commands:',
    ...renderRows(rows),
    '',
    'tokenkeep <command> --help lists its flags; tokenkeep --version prints the version.',
  ].join('\n');
}

/** What `tokenkeep <role> --help` prints. */
export function roleHelp(role: string, summary: string, settings: readonly Setting<unknown>[]): string {
  const usage = `Usage: tokenkeep ${role}${settings.length > 0 ? ' [flags]' : ''}`;
  const head = [`tokenkeep ${role}: ${summary}`, '', usage];
  if (settings.length === 0) return head.join('\n');
  const rows = settings.flatMap(rowsOf);
  const [first] = settings;
  const example = first === undefined ? '' : `, as in ${environmentName(first.flag)} for --${first.flag}`;
  return [
    ...head,
    '',
    'Flags:',
    ...renderRows(rows),
    '',
    `Each can be an environment variable instead${example}.`,
  ].join('\n');
}

function rowsOf(setting: Setting<unknown>): (readonly [string, string])[] {
  const { flag, variable, placeholder, mayBeInFile } = setting;
  const row = [variable ?? `--${flag} ${placeholder}`.trimEnd(), describe(setting)] as const;
  if (!mayBeInFile) return [row];
  return [row, [`--${fileFlag(flag)} FILE`, `a file that holds it, in place of --${flag}`]];
}

function describe({ description, fallback }: Setting<unknown>): string {
  if (fallback === 'required') return `${description} (required)`;
  return 'text' in fallback ? `${description} (default ${fallback.text})` : description;
}

/** Two columns, indented. */
export function renderRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

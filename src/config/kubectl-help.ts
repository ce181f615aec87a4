import { renderRows } from './help.ts';
import { PLUGIN_COMMANDS, type PluginCommand } from './kubectl-commands.ts';

/** What `kubectl tokenkeep --help` prints. */
export function pluginHelp(): string {
  const rows = Object.entries(PLUGIN_COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  return [
    'kubectl tokenkeep: looks at a Tokenkeep in a cluster, and calls it',
    '',
    'Usage: kubectl tokenkeep <command> [flags]',
    '',
    'Commands:',
    ...renderRows(rows),
    '',
    'kubectl tokenkeep <command> --help lists its flags.',
  ].join('\n');
}

/** What `kubectl tokenkeep <command> --help` prints. */
export function pluginCommandHelp(name: string, { summary, names, flags, passed = [] }: PluginCommand): string {
  const rows = [...passed, ...flags].map(({ name, short, placeholder, description }) => {
    const spelling = `${short === undefined ? '' : `-${short}, `}--${name} ${placeholder}`.trimEnd();
    return [spelling, description] as const;
  });
  const usage = ['kubectl tokenkeep', name, names, '[flags]'].filter(Boolean).join(' ');
  return [`kubectl tokenkeep ${name}: ${summary}`, '', `Usage: ${usage}`, '', 'Flags:', ...renderRows(rows)].join('\n');
}

import { delimiter } from 'node:path';
import { parseArgs } from 'node:util';
import { didYouMean } from './did-you-mean.ts';
import { PLUGIN_COMMANDS, type PluginCommand, type PluginCommandName, type PluginFlag } from './kubectl-commands.ts';
import { pluginCommandHelp, pluginHelp } from './kubectl-help.ts';
import { parseNamespace } from './namespaces.ts';
import type { Environment } from './read-settings.ts';
import { SettingFault } from './setting.ts';
import { parseOneOf, parseOrigin } from './values.ts';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

/** What `kubectl tokenkeep` is asked for. What a command has no flag for is at its default. */
export interface KubectlConfig {
  readonly command: PluginCommandName;
  readonly names: readonly string[];
  /** In the order in which they count. One that is given by its flag must be there. */
  readonly kubeconfigs: { readonly files: readonly string[]; readonly areGiven: boolean };
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly output: (typeof FORMATS)[number];
  readonly systemNamespace: string;
  readonly reactorNamespace: string | undefined;
  readonly application: string | undefined;
  /** A secret: from the environment alone. */
  readonly apiKey: string | undefined;
  readonly url: string | undefined;
  /** Path of a file; undefined for standard input. */
  readonly dataFile: string | undefined;
  readonly follow: boolean;
  readonly tailLines: number | undefined;
  /** What a report is written to. */
  readonly file: string | undefined;
  /** For the program in the pod. */
  readonly passed: readonly string[];
}

export type KubectlRead =
  | { readonly outcome: 'help'; readonly text: string }
  | { readonly outcome: 'faulty'; readonly faults: readonly string[] }
  | { readonly outcome: 'ok'; readonly config: KubectlConfig };

/** The variable that holds a key of an application. */
export const API_KEY_VARIABLE = 'TOKENKEEP_API_KEY';

/** Reads what stands after `kubectl tokenkeep`. */
export function readKubectl(argv: readonly string[], environment: Environment): KubectlRead {
  const found = findCommand(argv);
  if (found === undefined) {
    const [word] = argv;
    if (word === undefined || word === '--help' || word === '-h' || word === 'help')
      return { outcome: 'help', text: pluginHelp() };
    const names = Object.keys(PLUGIN_COMMANDS);
    return { outcome: 'faulty', faults: [`needs one of ${names.join(', ')}${didYouMean(word, names)}`] };
  }
  const command: PluginCommand = PLUGIN_COMMANDS[found.command];
  const read = readArguments(command, found.rest);
  if (read.help) return { outcome: 'help', text: pluginCommandHelp(found.command, command) };
  return assemble(found.command, command, read, environment);
}

function findCommand(argv: readonly string[]): { command: PluginCommandName; rest: readonly string[] } | undefined {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ');
    if (Object.hasOwn(PLUGIN_COMMANDS, name)) return { command: name as PluginCommandName, rest: argv.slice(words) };
  }
  return undefined;
}

interface ArgumentsRead {
  readonly values: ReadonlyMap<string, string>;
  readonly names: readonly string[];
  readonly passed: readonly string[];
  readonly help: boolean;
  readonly faults: readonly string[];
}

/** Faults never quote a value: it may be plaintext that was meant for a file. */
function readArguments(command: PluginCommand, argv: readonly string[]): ArgumentsRead {
  const passedFlags = command.passed ?? [];
  const flags = [...command.flags, ...passedFlags];
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(flags.map(optionOf)),
      help: { type: 'boolean', short: 'h' },
    },
    ...{ strict: false, allowPositionals: true, tokens: true },
  });
  const values = new Map<string, string>();
  const names: string[] = [];
  const passed: string[] = [];
  const faults: string[] = [];
  let help = false;
  for (const token of tokens ?? []) {
    if (token.kind === 'positional') names.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') {
      help = true;
      continue;
    }
    const flag = flags.find(({ name }) => name === token.name);
    if (flag === undefined) {
      const known = flags.map(({ name }) => `--${name}`);
      faults.push(`${token.rawName}: unknown flag${didYouMean(token.rawName, known)}`);
    } else if (values.has(flag.name)) faults.push(`--${flag.name}: is given twice`);
    else if (flag.placeholder === '' && token.value !== undefined) faults.push(`--${flag.name}: takes no value`);
    else if (flag.placeholder !== '' && token.value === undefined) faults.push(`--${flag.name}: needs a value`);
    else {
      values.set(flag.name, token.value ?? '');
      if (passedFlags.includes(flag))
        passed.push(flag.placeholder ? `--${flag.name}=${token.value}` : `--${flag.name}`);
    }
  }
  return { values, names, passed, help, faults };
}

function optionOf({ name, short, placeholder }: PluginFlag): [string, { type: 'boolean' | 'string'; short?: string }] {
  return [name, { type: placeholder === '' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) }];
}

function assemble(
  name: PluginCommandName,
  command: PluginCommand,
  { values, names, passed, faults: found }: ArgumentsRead,
  environment: Environment,
): KubectlRead {
  const faults = [...found];
  const parsed = <T>(flag: string, parse: (text: string) => T): T | undefined => {
    const text = values.get(flag);
    try {
      return text === undefined ? undefined : parse(text);
    } catch (error) {
      if (!(error instanceof SettingFault)) throw error;
      faults.push(`--${flag}: ${error.message}`);
      return undefined;
    }
  };
  if (command.names === '' && names.length > 0) faults.push('takes nothing but flags');
  if (command.names === 'NAME' && names.length !== 1) faults.push('needs the NAME of one resource');
  if (values.has('data') && names.length > 0 && command.names === '[ID...]')
    faults.push('--data: cannot be given together with an ID');
  const config: KubectlConfig = {
    ...{ command: name, names, passed },
    kubeconfigs: kubeconfigsOf(values.get('kubeconfig'), environment),
    context: values.get('context'),
    namespace: parsed('namespace', parseNamespace),
    allNamespaces: values.has('all-namespaces'),
    output: parsed('output', parseOneOf(FORMATS)) ?? 'table',
    systemNamespace: parsed('system-namespace', parseNamespace) ?? 'tokenkeep-system',
    reactorNamespace: parsed('reactor-namespace', parseNamespace),
    application: values.get('application'),
    apiKey: environment[API_KEY_VARIABLE],
    url: parsed('url', parseOrigin),
    dataFile: parsed('data', parseDataSource),
    follow: values.has('follow'),
    tailLines: parsed('tail', parseLines),
    file: values.get('file'),
  };
  return faults.length > 0 ? { outcome: 'faulty', faults } : { outcome: 'ok', config };
}

function kubeconfigsOf(given: string | undefined, environment: Environment): KubectlConfig['kubeconfigs'] {
  if (given !== undefined) return { files: [given], areGiven: true };
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  const home = environment['HOME'] ?? environment['USERPROFILE'];
  if (listed.length > 0 || home === undefined) return { files: listed, areGiven: false };
  return { files: [`${home}/.kube/config`], areGiven: false };
}

/** Data itself would stay in the history of the shell, and be shown to all by the list of processes. */
function parseDataSource(text: string): string | undefined {
  if (text === '-') return undefined;
  if (!text.startsWith('@') || text.length < 2)
    throw new SettingFault('takes @ and the name of a file, or -; never data itself, which a shell would remember');
  return text.slice(1);
}

function parseLines(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new SettingFault('must be a number of lines');
  return Number(text);
}

import { readFileSync } from 'node:fs';
import { apiSettings } from './api.ts';
import type { ApiConfig } from './api.ts';
import { auditVerifySettings } from './audit.ts';
import type { AuditVerifyConfig } from './audit.ts';
import { didYouMean } from './did-you-mean.ts';
import { overallHelp, roleHelp } from './help.ts';
import { keysImportSettings, keysRewrapSettings, keysRotateSettings, keysStatusSettings } from './keys.ts';
import type { KeysImportConfig, KeysRewrapConfig, KeysRotateConfig, KeysStatusConfig } from './keys.ts';
import { API_KEY_VARIABLE, readKubectl } from './kubectl.ts';
import type { KubectlConfig } from './kubectl.ts';
import { migrateSettings } from './migrate.ts';
import type { MigrateConfig } from './migrate.ts';
import { operatorSettings } from './operator.ts';
import type { OperatorConfig } from './operator.ts';
import { reactorSettings } from './reactor.ts';
import type { ReactorConfig } from './reactor.ts';
import { readSettings } from './read-settings.ts';
import type { Environment, SettingsReader } from './read-settings.ts';
import { flagsOf, type Setting } from './setting.ts';
import { standaloneSettings } from './standalone.ts';
import type { StandaloneConfig } from './standalone.ts';
import { statusSettings } from './status.ts';
import type { StatusConfig } from './status.ts';

/** The configuration of each role; the process runs as exactly one. */
export interface RoleConfigs {
  readonly standalone: StandaloneConfig;
  readonly api: ApiConfig;
  readonly operator: OperatorConfig;
  readonly migrate: MigrateConfig;
  readonly reactor: ReactorConfig;
  readonly status: StatusConfig;
  readonly 'keys status': KeysStatusConfig;
  readonly 'keys rotate': KeysRotateConfig;
  readonly 'keys rewrap': KeysRewrapConfig;
  readonly 'keys import': KeysImportConfig;
  readonly 'audit verify': AuditVerifyConfig;
}

export type Role = keyof RoleConfigs;

/** What a command line asks for. */
export type Command =
  | { readonly action: 'print'; readonly text: string }
  /** Each fault is one line; the process ends with code 2. */
  | { readonly action: 'refuse'; readonly faults: readonly string[] }
  | { readonly action: 'run'; readonly role: typeof PLUGIN; readonly config: KubectlConfig }
  | {
      readonly [R in Role]: { readonly action: 'run'; readonly role: R; readonly config: Readonly<RoleConfigs[R]> };
    }[Role];

/** Commands of two words share the first, which by itself is no command. */
const ROLES: { readonly [R in Role]: SettingsReader<RoleConfigs[R]> & { readonly summary: string } } = {
  standalone: { summary: 'the whole vault on one machine, with an embedded Postgres', ...standaloneSettings },
  api: { summary: 'the data-plane API alone, over a Postgres and a Vault', ...apiSettings },
  operator: { summary: 'reconciles the custom resources of a Kubernetes cluster', ...operatorSettings },
  migrate: { summary: 'brings the schema of a Postgres up to date', ...migrateSettings },
  reactor: { summary: "runs one reactor's code; started by the vault itself", ...reactorSettings },
  status: { summary: 'shows the conditions of every declared resource of a standalone', ...statusSettings },
  'keys status': { summary: 'shows the master keys, and what is wrapped under which version', ...keysStatusSettings },
  'keys rotate': { summary: 'makes a new version of the master key of tokens', ...keysRotateSettings },
  'keys rewrap': { summary: 'wraps the data keys under the current version', ...keysRewrapSettings },
  'keys import': { summary: "moves the data keys of a keyring to Vault's transit engine", ...keysImportSettings },
  'audit verify': { summary: 'tells whether the audit log is as it was written', ...auditVerifySettings },
};

/** The word under which this program is `kubectl tokenkeep`. */
const PLUGIN = 'kubectl';

/** Reads the arguments after the program's name, and the environment. */
export function readCommand(argv: readonly string[], environment: Environment = process.env): Command {
  const [name, ...rest] = argv;
  if (name === undefined)
    return { action: 'refuse', faults: [`a command is needed: ${Object.keys(ROLES).join(', ')}`] };
  if (isHelp(name)) return { action: 'print', text: overallHelp(ROLES) };
  if (name === '--version') return { action: 'print', text: version() };
  if (name === PLUGIN) return readPlugin(rest, environment);
  if (isRole(name)) return readRole(name, rest, environment);
  const group = Object.keys(ROLES).filter((role) => role.startsWith(`${name} `));
  if (group.length > 0) return readGroup(name, group, rest, environment);
  const kind = name.startsWith('-') ? 'flags follow a command' : 'unknown command';
  return { action: 'refuse', faults: [`argument 1: ${kind}${didYouMean(name, firstWords())}`] };
}

function readPlugin(argv: readonly string[], environment: Environment): Command {
  const read = readKubectl(argv, environment);
  if (read.outcome === 'help') return { action: 'print', text: read.text };
  if (read.outcome === 'faulty') return { action: 'refuse', faults: read.faults };
  return { action: 'run', role: PLUGIN, config: read.config };
}

function readGroup(name: string, group: readonly string[], argv: readonly string[], environment: Environment): Command {
  const [second, ...rest] = argv;
  const words = group.map((role) => role.slice(name.length + 1));
  if (second !== undefined && isHelp(second)) {
    const members = Object.fromEntries(Object.entries(ROLES).filter(([role]) => group.includes(role)));
    return { action: 'print', text: overallHelp(members) };
  }
  const role = `${name} ${second ?? ''}`;
  if (isRole(role)) return readRole(role, rest, environment);
  const guess = second === undefined ? '' : didYouMean(second, words);
  return { action: 'refuse', faults: [`argument 2: ${name} needs one of ${words.join(', ')}${guess}`] };
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h' || argument === 'help';
}

function firstWords(): string[] {
  return Object.keys(ROLES).map((role) => role.split(' ')[0]!);
}

function readRole<R extends Role>(role: R, argv: readonly string[], environment: Environment): Command {
  const reader: (typeof ROLES)[R] = ROLES[role];
  const flagsOfAllRoles = Object.values(ROLES).flatMap((role) => flagsOf(settingsOf(role)));
  const { [API_KEY_VARIABLE]: _, ...settings } = environment;
  const read = readSettings<RoleConfigs[R]>(reader, argv, settings, flagsOfAllRoles);
  if (read.outcome === 'help') return { action: 'print', text: roleHelp(role, reader.summary, settingsOf(reader)) };
  if (read.outcome === 'faulty') return { action: 'refuse', faults: read.faults };
  // The compiler does not see that one R stands in both places.
  return { action: 'run', role, config: read.config } as Command;
}

function isRole(name: string): name is Role {
  return Object.hasOwn(ROLES, name);
}

function settingsOf(reader: { readonly settings: object }): Setting<unknown>[] {
  return Object.values(reader.settings) as Setting<unknown>[];
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

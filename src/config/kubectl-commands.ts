/** A flag of the kubectl plugin. */
export interface PluginFlag {
  readonly name: string;
  readonly short?: string;
  /** Stands for the value in `--help`; empty for a switch. */
  readonly placeholder: string;
  readonly description: string;
}

export interface PluginCommand {
  readonly summary: string;
  /** What stands after the command, such as `NAME`; with `...`, one or more; in brackets, none or more. */
  readonly names: '' | 'NAME' | '[ID...]';
  readonly flags: readonly PluginFlag[];
  /** Flags that the program in the pod is given as they are. */
  readonly passed?: readonly PluginFlag[];
}

export type PluginCommandName = keyof typeof PLUGIN_COMMANDS;

const cluster: readonly PluginFlag[] = [
  {
    name: 'kubeconfig',
    placeholder: 'FILE',
    description: 'a kubeconfig; else those of KUBECONFIG, else ~/.kube/config',
  },
  { name: 'context', placeholder: 'NAME', description: 'a context of the kubeconfig (default: its current one)' },
];
const namespace: PluginFlag = {
  ...{ name: 'namespace', short: 'n', placeholder: 'NAME' },
  description: "the resources' namespace (default: the context's)",
};
const systemNamespace: PluginFlag = {
  ...{ name: 'system-namespace', placeholder: 'NAME' },
  description: 'where the chart is installed (default tokenkeep-system)',
};
const toApi: readonly PluginFlag[] = [
  {
    ...{ name: 'application', placeholder: 'NAME' },
    description: 'the Application whose key is used, from its Secret; else the key in TOKENKEEP_API_KEY',
  },
  { name: 'url', placeholder: 'URL', description: 'where the API is, in place of a port-forward to one of its pods' },
  namespace,
  systemNamespace,
  ...cluster,
];
const data = (of: string): PluginFlag => ({
  ...{ name: 'data', placeholder: '@FILE' },
  description: `${of}, in a file; - or without it, standard input`,
});
const inPod = [systemNamespace, ...cluster];

/** Each command of `kubectl tokenkeep`. */
export const PLUGIN_COMMANDS = {
  status: {
    summary: 'shows the conditions of the declared resources; code 1 where one is not Ready',
    names: '',
    flags: [
      { name: 'all-namespaces', short: 'A', placeholder: '', description: 'of every namespace' },
      { name: 'output', short: 'o', placeholder: 'FORMAT', description: 'wide, json or yaml (default: a table)' },
      namespace,
      ...cluster,
    ],
  },
  tokenize: {
    summary: 'replaces every value of a JSON document by a token',
    names: '',
    flags: [data('the document'), ...toApi],
  },
  detokenize: {
    summary: 'shows the plaintext of tokens, or of a JSON document with expressions',
    names: '[ID...]',
    flags: [data('the document'), ...toApi],
  },
  'reactor invoke': {
    summary: 'runs a reactor, and shows what it gave',
    names: 'NAME',
    flags: [data('the arguments, a JSON object'), ...toApi],
  },
  'reactor logs': {
    summary: "shows what a reactor's instances log",
    names: 'NAME',
    flags: [
      { name: 'follow', short: 'f', placeholder: '', description: 'goes on, also with instances that start later' },
      { name: 'tail', placeholder: 'LINES', description: 'only so many lines of each instance' },
      {
        ...{ name: 'reactor-namespace', placeholder: 'NAME' },
        description: "where instances run (default: what the operator's flags say)",
      },
      namespace,
      systemNamespace,
      ...cluster,
    ],
  },
  'keys status': {
    summary: 'shows the master keys, and what is wrapped under which version',
    names: '',
    flags: inPod,
  },
  'keys rotate': {
    summary: 'makes a new version of the master key of tokens',
    names: '',
    flags: inPod,
    passed: [
      { name: 'data-keys', placeholder: '', description: "also replace every tenant's data key" },
      { name: 'if-older-than', placeholder: 'AGE', description: 'leave a master key that is younger, such as 90d' },
    ],
  },
  'keys rewrap': {
    summary: 'wraps the data keys under the current version',
    names: '',
    flags: inPod,
    passed: [
      { name: 'retire', placeholder: '', description: 'then destroy the older versions of the master key, for good' },
    ],
  },
  'audit verify': {
    summary: 'tells whether the audit log is as it was written',
    names: '',
    flags: inPod,
    passed: [{ name: 'since', placeholder: 'DURATION', description: 'how far back the log must reach, such as 24h' }],
  },
  report: {
    summary: 'gathers what is needed to find a fault, without data, keys or code, in a .tar.gz',
    names: '',
    flags: [
      {
        ...{ name: 'file', placeholder: 'FILE' },
        description: 'what is written (default tokenkeep-report-<time>.tar.gz)',
      },
      { name: 'all-namespaces', short: 'A', placeholder: '', description: 'resources of every namespace' },
      namespace,
      systemNamespace,
      ...cluster,
    ],
  },
} as const satisfies Record<string, PluginCommand>;

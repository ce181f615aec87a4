/** Flags whose value is a number, a span of time or a word of a list: of no other flag is the value told. */
export const TOLD_FLAGS: readonly string[] = [
  ...['port', 'metrics-port', 'health-port', 'internal-port', 'svc-port', 'api-pod-port'],
  ...['vault-auth', 'vault-timeout', 'internal-auth', 'key-rotation', 'drain-seconds', 'grace-seconds'],
  ...['trusted-proxies', 'ip-rate-limits', 'log-level', 'log-format'],
  ...['leader-election', 'lease-duration', 'renew-deadline', 'retry-period', 'workers'],
];
const SWITCHES = ['check', 'internal-allow-http', 'vault-allow-http'];
/** The programs of this vault, each in a container of its own name. */
const ROLES = ['api', 'operator', 'reactor', 'migrate'];

const WORDS = ['on', 'off', 'debug', 'info', 'warn', 'error', 'silent', 'json', 'pretty'];
const METHODS = ['token', 'approle', 'kubernetes'];

const VALUE = String.raw`\d{1,6}(?:ms|[smhd])?|${[...WORDS, ...METHODS].join('|')}`;
const TOLD = new RegExp(
  `^(?:${ROLES.join('|')}|--(?:${SWITCHES.join('|')})|--(?:${TOLD_FLAGS.join('|')})=(?:${VALUE}))$`,
);
const FLAG_NAME = /^--[a-z-]+=/;

/** Whether an object that is at this path runs a program of ours. Whatever else is in the namespace is somebody's. */
export function isOurContainer(path: string, container: object): boolean {
  const { name, args } = container as { readonly name?: unknown; readonly args?: unknown };
  if (!/ontainers\[\]$/.test(path) || typeof name !== 'string' || !Array.isArray(args)) return false;
  return ROLES.includes(name) && args[0] === name;
}

/** What of an argument to a program of ours is told, and what is not. */
export function splitArgument(argument: string): { told: string; secret: string } {
  if (TOLD.test(argument)) return { told: argument, secret: '' };
  const [told = ''] = FLAG_NAME.exec(argument) ?? [];
  return { told, secret: argument.slice(told.length) };
}

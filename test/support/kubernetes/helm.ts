import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Context } from 'mocha';
import { parseAllDocuments } from 'yaml';
import { installGoProgram, requireGoPrograms, type GoProgram } from '../go-program.ts';

export const CHART = fileURLToPath(new URL('../../../charts/tokenkeep/', import.meta.url));

/** Where the tests install the chart, as its documentation does. */
export const RELEASE = { name: 'tokenkeep', namespace: 'tokenkeep-system' };

const HELM: GoProgram = {
  name: 'helm',
  module: new URL('../../../config/helm/', import.meta.url),
  package: 'helm.sh/helm/v4/cmd/helm',
  takes: 'about 4 minutes',
};

export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Values of the chart, as a user would write them to values.yaml. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** The least that the chart has to be told: where the database and the master keys are. */
export const NEEDED_VALUES = {
  database: { existingSecret: { name: 'database' } },
  vault: { address: 'https://vault.example:8200' },
} satisfies ChartValues;

/** What says who may do what. */
const ACCESS_KINDS = ['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'];

/** Builds Helm outside of the checkout, once for a machine. */
export async function installHelm(): Promise<string> {
  return installGoProgram(HELM);
}

/** Skips the tests where Helm cannot be had; in CI, fails them. To be called in a `before` hook. */
export async function requireHelm(context: Context): Promise<void> {
  await requireGoPrograms(context, [HELM]);
}

/** Never rejects for a code other than 0. */
export async function helm(args: readonly string[], input = ''): Promise<HelmResult> {
  const program = await installGoProgram(HELM);
  // Nothing of a cluster, or of repositories, that this machine may be configured for.
  const child = spawn(program, args, { env: { PATH: process.env['PATH'], HOME: tmpdir() } });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode ?? 1, stdout, stderr };
}

/** As `helm`, for `helm template` of our chart with these values and further flags. */
export function templateChart(
  values: ChartValues = {},
  release = RELEASE,
  flags: readonly string[] = [],
): Promise<HelmResult> {
  const args = ['template', release.name, CHART, '--namespace', release.namespace, '--values', '-', ...flags];
  return helm(args, JSON.stringify(values));
}

/**
 * The manifests that the chart installs, as one stream of YAML documents, with these values beside those that it needs.
 *
 * @throws where Helm, or the chart's schema, refuses the values
 */
export async function renderChart(values: ChartValues = {}, release = RELEASE): Promise<string> {
  const { code, stdout, stderr } = await templateChart(
    'dev' in values ? values : { ...NEEDED_VALUES, ...values },
    release,
  );
  if (code !== 0) throw new Error(`helm template: ${stderr.trim()}`);
  return stdout;
}

/** As `renderChart`, without what runs: ServiceAccounts and what they may do. */
export async function renderAccess(values: ChartValues = {}): Promise<string> {
  const documents = parseAllDocuments(await renderChart({ ...values, crds: { enabled: false } }));
  return documents
    .filter((document) => ACCESS_KINDS.includes(String(document.get('kind'))))
    .map((document) => document.toString({ directives: true }))
    .join('');
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Context } from 'mocha';
import { requireGoPrograms, type GoProgram } from '../go-program.ts';
import type { CommandResult, KubernetesCluster } from './control-plane.ts';

const MODULE = new URL('../../../config/chart/', import.meta.url);

const KUBECONFORM: GoProgram = {
  name: 'kubeconform',
  module: MODULE,
  package: 'github.com/yannh/kubeconform/cmd/kubeconform',
  takes: 'about 1 minute',
};

const KUBE_SCORE: GoProgram = {
  name: 'kube-score',
  module: MODULE,
  package: 'github.com/zegl/kube-score/cmd/kube-score',
  takes: 'about 1 minute',
};

export const CHART_JUDGES = [KUBECONFORM, KUBE_SCORE];

export interface ChartJudges {
  /** Holds manifests against the schemas in a folder that `writeSchemas` has filled. */
  kubeconform(manifests: string, schemas: string): Promise<CommandResult>;
  /** What kube-score finds critical: `Deployment api: what it says`. */
  criticalFindings(manifests: string): Promise<string[]>;
}

/** Skips the tests where they cannot be had; in CI, fails them. To be called in a `before` hook. */
export async function requireChartJudges(context: Context): Promise<ChartJudges> {
  const [kubeconform, kubeScore] = await requireGoPrograms(context, CHART_JUDGES);
  return {
    kubeconform: (manifests, schemas) => {
      const location = join(schemas, '{{.ResourceKind}}{{.KindSuffix}}.json');
      return run(kubeconform!, ['-strict', '-summary', '-output', 'text', '-schema-location', location], manifests);
    },
    async criticalFindings(manifests) {
      const { stdout } = await run(kubeScore!, ['score', '--output-format', 'ci', '-'], manifests);
      return stdout.split('\n').flatMap((line) => {
        const [, name, kind, what] = /^\[CRITICAL\] (\S+?)\/\S+ \S+\/(\w+): (.+)$/.exec(line) ?? [];
        return name === undefined ? [] : [`${kind} ${name}: ${what}`];
      });
    },
  };
}

async function run(program: string, args: readonly string[], input: string): Promise<CommandResult> {
  const child = spawn(program, args);
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode ?? 1, stdout, stderr };
}

interface Schema {
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  oneOf?: object[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

/**
 * Writes, as kubeconform looks for them, the schemas of all that a cluster serves: of its version, and with what is
 * defined there.
 */
export async function writeSchemas(cluster: KubernetesCluster, folder: string): Promise<void> {
  const { definitions } = JSON.parse(await cluster.demand(['get', '--raw', '/openapi/v2'])) as {
    definitions: Record<string, Schema>;
  };
  await mkdir(folder, { recursive: true });
  for (const schema of Object.values(definitions)) makeStrict(schema);
  await writeFile(join(folder, '_definitions.json'), JSON.stringify({ definitions }));
  for (const [name, schema] of Object.entries(definitions)) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
      // kubeconform knows a group by its first word.
      const suffix = [group.split('.')[0], version].filter((part) => part !== '').join('-');
      const file = join(folder, `${kind.toLowerCase()}-${suffix}.json`);
      await writeFile(file, JSON.stringify({ $ref: `_definitions.json#/definitions/${name}` }));
    }
  }
}

/** What OpenAPI 2 cannot say, and JSON Schema can. */
function makeStrict(schema: Schema): void {
  if (schema.properties !== undefined) schema.additionalProperties ??= false;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (property.format === 'int-or-string') {
      schema.properties![key] = { oneOf: [{ type: 'string' }, { type: 'integer' }] };
    } else {
      makeStrict(property);
    }
  }
  if (schema.format === 'int-or-string') {
    delete schema.type;
    schema.oneOf = [{ type: 'string' }, { type: 'integer' }];
  }
}

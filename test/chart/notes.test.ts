import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { parse } from 'yaml';
import { CHART, helm, NEEDED_VALUES, RELEASE, requireHelm } from '../support/kubernetes/helm.ts';
import type { ChartValues } from '../support/kubernetes/helm.ts';
import { VALUE_SETS } from './value-sets.ts';

/** In place of programs: each says that it was called, and kubectl shows what it was handed. */
const STUBS = `
  helm() { echo "helm $1"; }
  kubectl() { echo "kubectl $1"; if [ "$1" = apply ]; then cat; echo ---; fi; }
`;

async function notesOf(values: ChartValues): Promise<string> {
  const where = ['--namespace', RELEASE.namespace, '--values', '-', '--dry-run=client'];
  const { code, stdout, stderr } = await helm(['install', RELEASE.name, CHART, ...where], JSON.stringify(values));
  expect(code, stderr).to.equal(0);
  return stdout.slice(stdout.indexOf('\nNOTES:\n'));
}

/** The commands of a numbered step, up to the next empty line, as they are copied. */
function commandsOf(step: number, notes: string): string {
  const [, commands] = new RegExp(`^${step}\\. .*\\n\\n([\\s\\S]*?)\\n\\n`, 'm').exec(notes) ?? [];
  return commands ?? expect.fail(`no step ${step} in ${notes}`);
}

async function bash(script: string, flags: readonly string[] = []): Promise<[stdout: string, stderr: string]> {
  const child = spawn('bash', flags);
  child.stdin.end(`${script}\n`);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return [stdout, stderr];
}

describe('what the chart tells after it is installed', () => {
  before(async function () {
    await requireHelm(this);
  });

  for (const name of ['default', 'dev', 'everything'] as const) {
    it(`are commands that can be pasted, as ${name}`, async () => {
      const notes = await notesOf(VALUE_SETS[name]);
      for (const step of [1, 2, 3]) {
        const [, stderr] = await bash(commandsOf(step, notes), ['-n']);
        expect(stderr, `step ${step}`).to.equal('');
      }
    });
  }

  it('declares an application, and then waits for it', async () => {
    const [stdout, stderr] = await bash(STUBS + commandsOf(2, await notesOf(VALUE_SETS.default)));
    expect(stderr).to.equal('');
    const [, manifest = '', after] = /^kubectl create\nkubectl apply\n([\s\S]*)---\n([\s\S]*)$/.exec(stdout) ?? [];
    expect(parse(manifest)).to.deep.include({ kind: 'Application', metadata: { name: 'checkout' } });
    expect(after).to.equal('kubectl wait\n');
  });

  it('says which monitors it has left out, since the cluster does not know them', async () => {
    const monitors = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };
    const leftOut = await notesOf({ ...NEEDED_VALUES, metrics: monitors });
    expect(leftOut).to.match(/TO DO: .*ServiceMonitor, PrometheusRule/);
    const rendered = await notesOf({ ...NEEDED_VALUES, metrics: { ...monitors, renderMode: 'alwaysRender' } });
    expect(rendered).not.to.include('PrometheusRule');
  });
});

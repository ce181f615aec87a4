import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { DEFINITIONS } from '../../../support/operator/standalone-verdict.ts';

const CRDS = fileURLToPath(new URL('../../../../crds/', import.meta.url));
const SAMPLES = fileURLToPath(new URL('../../../../config/samples/', import.meta.url));
const SNAPSHOTS = new URL('../../../fixtures/crds/kubectl/', import.meta.url);

/** With `UPDATE_SNAPSHOTS=1`, writes what is there now instead of comparing with it. */
async function expectSnapshot(name: string, text: string): Promise<void> {
  const file = new URL(`${name}.txt`, SNAPSHOTS);
  // kubectl ends some lines with spaces.
  const shown = text.replaceAll(/[ \t]+$/gm, '').trimEnd() + '\n';
  if (process.env['UPDATE_SNAPSHOTS'] === '1') {
    await mkdir(SNAPSHOTS, { recursive: true });
    await writeFile(file, shown);
  }
  expect(shown, `${name}.txt; UPDATE_SNAPSHOTS=1 writes it anew`).to.equal(await readFile(file, 'utf8'));
}

/** Ages differ from run to run. */
function withoutAges(table: string): string {
  return table.replaceAll(/\b(?:\d+[smh])+$/gm, 'now').replaceAll(/ +now$/gm, '  now');
}

describe('the definitions on a real API server', () => {
  let cluster: KubernetesCluster;

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
  });

  it('are taken without a warning, server-side and client-side, and established', async () => {
    for (const flags of [['--server-side', '--dry-run=server'], ['--dry-run=server']]) {
      const { code, stderr } = await cluster.kubectl(['apply', '-f', CRDS, ...flags]);
      // That client-side apply has not written them before is all that it may say.
      const warnings = stderr.split('\n').filter((line) => line !== '' && !line.includes('last-applied-configuration'));
      expect({ code, warnings }).to.deep.equal({ code: 0, warnings: [] });
    }
    await cluster.demand(['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS]);
    const structural = `{.items[*].status.conditions[?(@.type=="NonStructuralSchema")].status}`;
    expect(await cluster.demand(['get', 'crd', '-o', `jsonpath=${structural}`])).to.equal('');
  });

  it('have short names, one category, fields to select by, and none a scale', async () => {
    const resources = await cluster.demand([
      'api-resources',
      '--api-group=tokenkeep.dev',
      '-o',
      'wide',
      '--no-headers',
    ]);
    await expectSnapshot('api-resources', resources);
    for (const field of ['spec.type=private', 'status.id=x', 'status.tenantId=x']) {
      await cluster.demand(['get', 'applications', '-A', `--field-selector=${field}`]);
    }
    for (const [kind, field] of [
      ['tkt', 'spec.type=test'],
      ['tkr', 'spec.applicationRef.name=payments'],
      ['tkx', 'spec.applicationRef.name=payments'],
    ] as const) {
      await cluster.demand(['get', kind, '-A', `--field-selector=${field}`]);
    }
    const refused = await cluster.kubectl(['get', 'applications', '-A', '--field-selector=spec.displayName=x']);
    expect(refused.code).not.to.equal(0);
  });

  it('mark Application as a service that workloads can be bound to', async () => {
    const bindable = await cluster.demand([
      'get',
      'crd',
      '-l',
      'servicebinding.io/provisioned-service=true',
      '-o',
      'name',
    ]);
    expect(bindable.trim()).to.equal('customresourcedefinition.apiextensions.k8s.io/applications.tokenkeep.dev');
  });

  for (const { kind } of DEFINITIONS) {
    it(`explain every field of ${kind}`, async () => {
      await expectSnapshot(`explain-${kind.toLowerCase()}`, await explain(kind));
    });
  }

  it('take the samples unchanged, and print them', async function () {
    this.timeout(120_000);
    const namespace = await cluster.namespace();
    const apply = ['apply', '--namespace', namespace, '-f', SAMPLES];
    const { code, stderr } = await cluster.kubectl([...apply, '--server-side']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    try {
      const again = await cluster.demand([...apply, '--server-side']);
      expect(again).to.match(/application.*serverside-applied/);
      expect((await cluster.kubectl(['diff', '--namespace', namespace, '-f', SAMPLES])).stdout).to.equal('');
      const get = (...flags: string[]) => cluster.demand(['get', 'tokenkeep', '--namespace', namespace, ...flags]);
      await expectSnapshot('get', withoutAges(await get()));
      await expectSnapshot('get-wide', withoutAges(await get('-o', 'wide')));
    } finally {
      await cluster.kubectl(['delete', '--namespace', namespace, '--wait=false', '-f', SAMPLES]);
    }
  });

  async function explain(kind: string): Promise<string> {
    const fields = await cluster.demand(['explain', kind, '--recursive']);
    const paths = fieldPathsOf(kind);
    const details = await Promise.all(
      [kind, ...paths.map((path) => `${kind}.${path}`)].map((path) => cluster.demand(['explain', path])),
    );
    return [fields, ...details].join(`\n${'-'.repeat(80)}\n`);
  }

  /** `spec` and every object below it; what they hold is explained with them. */
  function fieldPathsOf(kind: string): string[] {
    const { schema } = DEFINITIONS.find((definition) => definition.kind === kind)!;
    const paths: string[] = [];
    const visit = (at: typeof schema, path: string) => {
      const inner = at.items ?? at;
      if (inner.properties === undefined) return;
      paths.push(path);
      for (const [name, child] of Object.entries(inner.properties)) visit(child, `${path}.${name}`);
    };
    visit(schema.properties!['spec']!, 'spec');
    visit(schema.properties!['status']!, 'status');
    return paths;
  }
});

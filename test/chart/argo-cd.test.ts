import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { CUSTOMIZATIONS, healthOf, requireHealth } from '../support/kubernetes/health.ts';

const GROUP = join(CUSTOMIZATIONS, 'tokenkeep.dev');
const SETTINGS = new URL('../../config/argocd/argocd-cm-patch.yaml', import.meta.url);

/** What kstatus says where Argo CD says this; it does not know of pauses. */
const KSTATUS: Record<string, readonly string[]> = {
  Healthy: ['Current'],
  Progressing: ['InProgress', 'Terminating'],
  Degraded: ['Failed'],
  Suspended: ['Current', 'InProgress'],
};

/** As upstream's health_test.yaml has them. */
interface HealthTests {
  tests: { inputPath: string; healthStatus: { status: string; message: string } }[];
}

async function kinds(): Promise<string[]> {
  const crds = await readdir(new URL('../../crds/', import.meta.url));
  const definitions = crds.map((file) => readFile(new URL(`../../crds/${file}`, import.meta.url), 'utf8'));
  return (await Promise.all(definitions)).map(
    (definition) => (parse(definition) as { spec: { names: { kind: string } } }).spec.names.kind,
  );
}

async function testsOf(kind: string): Promise<HealthTests['tests']> {
  return (parse(await readFile(join(GROUP, kind, 'health_test.yaml'), 'utf8')) as HealthTests).tests;
}

async function inputOf(kind: string, inputPath: string): Promise<object> {
  return parse(await readFile(join(GROUP, kind, inputPath), 'utf8')) as object;
}

describe('health checks for Argo CD', () => {
  before(async function () {
    await requireHealth(this);
  });

  it('are there for every kind', async () => {
    expect((await readdir(GROUP)).sort()).to.deep.equal((await kinds()).sort());
  });

  it('have a test of each resource that lies with them', async () => {
    for (const kind of await kinds()) {
      const tested = (await testsOf(kind)).map(({ inputPath }) => inputPath);
      const files = (await readdir(join(GROUP, kind, 'testdata'))).map((file) => `testdata/${file}`);
      expect(tested).to.have.members(files);
    }
  });

  it('say what their tests say, and agree with kstatus', async () => {
    for (const kind of await kinds()) {
      for (const { inputPath, healthStatus } of await testsOf(kind)) {
        const [health] = await healthOf([await inputOf(kind, inputPath)]);
        expect(health?.argo, `${kind} ${inputPath}`).to.deep.equal(healthStatus);
        if (inputPath === 'testdata/without-status.yaml') continue;
        expect(KSTATUS[healthStatus.status], `${kind} ${inputPath}`).to.include(health?.kstatus.status);
      }
    }
  });

  it('never call ready what no operator has seen, not even where kstatus would', async () => {
    const [health] = await healthOf([await inputOf('Application', 'testdata/without-status.yaml')]);
    expect(health?.kstatus.status).to.equal('Current');
    expect(health?.argo.status).to.equal('Progressing');
  });

  it('are what the settings for Argo CD hold', async () => {
    const { data } = parse(await readFile(SETTINGS, 'utf8')) as { data: Record<string, string> };
    const expected: Record<string, string> = {};
    for (const kind of await kinds()) {
      const script = await readFile(join(GROUP, kind, 'health.lua'), 'utf8');
      expected[`resource.customizations.health.tokenkeep.dev_${kind}`] = script;
    }
    expect(data).to.deep.equal(expected);
  });
});

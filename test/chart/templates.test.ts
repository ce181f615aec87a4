import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { grantsOf } from '../support/kubernetes/helm-grants.ts';
import { CHART, RELEASE, renderChart, requireHelm, type ChartValues } from '../support/kubernetes/helm.ts';
import { ofKind, parseManifests, type Manifest } from '../support/kubernetes/manifests.ts';
import { VALUE_SET_NAMES, VALUE_SETS } from './value-sets.ts';

const ROOT = new URL('../../', import.meta.url);

interface Rule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

type RoleManifest = Manifest & { rules?: Rule[] };

async function manifests(values?: ChartValues): Promise<RoleManifest[]> {
  return parseManifests(await renderChart(values));
}

/** Without what is made anew each time it is rendered: keys, certificates, and when they are old. */
function withoutChance(rendered: string): string {
  return rendered
    .replace(/^( {2}(?:ca\.crt|tls\.crt|tls\.key)): \S+$/gm, '$1: <made anew>')
    .replace(/(renew-after): "[-:\dTZ]+"/g, '$1: <a year from now>');
}

/** Alerts and dashboards, which have tests of their own. */
async function observability(): Promise<Record<string, string>> {
  const names = (await readdir(new URL('files/', `file://${CHART}`), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('crds'))
    .map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(names.map((name) => readFile(name, 'utf8')));
  return Object.fromEntries(names.map((name, index) => [basename(name), texts[index]!]));
}

/** Without files that are rendered as they are. */
function withoutFiles(rendered: string, files: Record<string, string>): string {
  const indented = (text: string, by: number): string => text.trimEnd().replace(/^/gm, ' '.repeat(by));
  return Object.entries(files).reduce(
    (left, [name, text]) =>
      [2, 4].reduce((all, by) => all.replace(indented(text, by), `${' '.repeat(by)}<${name}>`), left),
    rendered,
  );
}

async function readYaml<T>(path: string): Promise<T> {
  return parse(await readFile(new URL(path, ROOT), 'utf8')) as T;
}

describe('the chart', () => {
  before(async function () {
    await requireHelm(this);
  });

  describe('renders as its snapshots', () => {
    for (const name of VALUE_SET_NAMES) {
      it(name, async () => {
        const file = new URL(`snapshots/${name}.yaml`, import.meta.url);
        const whole = withoutChance(await renderChart({ ...VALUE_SETS[name], crds: { enabled: false } }));
        const rendered = withoutFiles(whole, await observability());
        if (process.env['TOKENKEEP_TEST_WRITE_SNAPSHOTS'] === 'true') await writeFile(file, rendered);
        expect(rendered).to.equal(await readFile(file, 'utf8'));
      });
    }

    it('and there is no other one', async () => {
      const files = await readdir(new URL('snapshots/', import.meta.url));
      expect(files.sort()).to.deep.equal(VALUE_SET_NAMES.map((name) => `${name}.yaml`).sort());
    });
  });

  it('renders alerts and dashboards as they are', async () => {
    const files = await observability();
    const rendered = await manifests(VALUE_SETS.everything);
    const [rule] = ofKind('PrometheusRule', rendered);
    expect(rule?.spec).to.deep.equal(parse(files['alerts.yaml']!));
    const dashboards = Object.entries(files).filter(([name]) => name.endsWith('.json'));
    const shown = ofKind('ConfigMap', rendered).filter(
      ({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1',
    );
    expect(Object.assign({}, ...shown.map(({ data }) => data))).to.deep.equal(Object.fromEntries(dashboards));
  });

  it('carries the version of the program', async () => {
    const { version } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8')) as { version: string };
    const chart = await readYaml<{ version: string; appVersion: string }>('charts/tokenkeep/Chart.yaml');
    expect(chart).to.include({ version, appVersion: version });
  });

  it('has no password anywhere but in Secrets', async () => {
    const rendered = await manifests(VALUE_SETS.urls);
    const holders = rendered.filter((manifest) => JSON.stringify(manifest).includes('password-of'));
    expect(holders.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).to.deep.equal([
      'Secret tokenkeep-database',
      'Secret tokenkeep-maintenance-database',
      'Secret tokenkeep-migration-database',
      'Secret tokenkeep-redis',
    ]);
    const keys = (await manifests(VALUE_SETS.default)).filter((manifest) =>
      /PRIVATE KEY|LS0tLS1CRUdJTiBFQy/.test(JSON.stringify(manifest)),
    );
    expect(keys.map(({ kind }) => kind)).to.deep.equal(['Secret']);
  });

  it('gives the internal API to no Service that workloads use', async () => {
    for (const name of VALUE_SET_NAMES) {
      const services = ofKind('Service', await manifests(VALUE_SETS[name]));
      const opened = services.filter(({ spec }) => JSON.stringify(spec!['ports']).includes('internal'));
      expect(opened.map(({ metadata }) => metadata.name)).to.have.lengthOf(1);
      const [internal] = opened;
      expect(internal!.metadata.name).to.match(/-internal$/);
      expect(internal!.spec).to.deep.include({ type: 'ClusterIP' });
      expect(internal!.spec!['ports']).to.have.lengthOf(1);
    }
  });

  it('rolls the API where a URL has changed that it was given as text', async () => {
    const stamp = async (url: string): Promise<unknown> => {
      const rendered = await manifests({ ...VALUE_SETS.urls, database: { url } });
      const api = ofKind('Deployment', rendered).find(({ metadata }) => metadata.name.endsWith('-api'))!;
      return (api.spec!['template'] as Manifest).metadata.annotations;
    };
    const before = await stamp('postgres://a:1@db/vault');
    expect(await stamp('postgres://a:1@db/vault')).to.deep.equal(before);
    expect(await stamp('postgres://a:2@db/vault')).not.to.deep.equal(before);
  });

  describe('resource definitions', () => {
    const KEEP = { 'helm.sh/resource-policy': 'keep' };

    async function ours(): Promise<RoleManifest[]> {
      const files = (await readdir(new URL('crds/', ROOT))).sort();
      return Promise.all(files.map((file) => readYaml<RoleManifest>(`crds/${file}`)));
    }

    it('are those of crds/, and outlive the release', async () => {
      const rendered = ofKind('CustomResourceDefinition', await manifests());
      const kept = (await ours()).map((crd) => ({ ...crd, metadata: { ...crd.metadata, annotations: KEEP } }));
      expect(rendered).to.deep.equal(kept);
    });

    it('go with the release where the values say so', async () => {
      const rendered = ofKind('CustomResourceDefinition', await manifests({ crds: { keep: false } }));
      expect(rendered).to.deep.equal(await ours());
    });

    it('are left out where somebody else installs them', async () => {
      expect(ofKind('CustomResourceDefinition', await manifests({ crds: { enabled: false } }))).to.deep.equal([]);
    });

    it('are copied into the chart as they are', async () => {
      const copies = await readdir(new URL('files/crds/', `file://${CHART}`));
      expect(copies.sort()).to.deep.equal((await readdir(new URL('crds/', ROOT))).sort());
    });
  });

  describe('grants', () => {
    const all = async (values?: ChartValues): Promise<Rule[]> =>
      (await manifests(values)).flatMap(({ rules = [] }) => rules);

    it('name every group, resource and verb', async () => {
      const grants = [...(await all()), ...(await all({ operator: { watchNamespaces: ['payments'] } }))];
      for (const { apiGroups, resources, verbs } of grants) {
        expect([...apiGroups, ...resources, ...verbs]).not.to.include('*');
      }
    });

    it('never let anyone raise what they may do', async () => {
      for (const { apiGroups, verbs } of await all()) {
        expect(apiGroups).not.to.include('rbac.authorization.k8s.io');
        expect(verbs).not.to.include.any.members(['impersonate', 'escalate', 'bind']);
      }
    });

    it('reach declarations in the watched namespaces alone, and Secrets there and where reactors run', async () => {
      const rendered = await manifests({
        operator: { watchNamespaces: ['payments', 'checkout'] },
        reactors: { namespace: 'reactors' },
      });
      const holding = (resource: string): RoleManifest[] =>
        rendered.filter(({ rules = [] }) => rules.some(({ resources }) => resources.includes(resource)));
      const places = (resource: string): string[] =>
        holding(resource).map(({ kind, metadata }) => `${kind} ${metadata.namespace}`);
      expect(places('applications/status')).to.have.members(['Role payments', 'Role checkout']);
      const own = `Role ${RELEASE.namespace}`;
      expect(places('secrets')).to.have.members(['Role payments', 'Role checkout', 'Role reactors', own]);
      const [besides] = holding('secrets').filter(({ metadata }) => metadata.namespace === RELEASE.namespace);
      // One Secret by its name, whatever else is in the namespace of the API.
      expect(besides?.rules?.filter(({ resources }) => !resources.includes('events'))).to.deep.equal([
        {
          ...{ apiGroups: [''], resources: ['secrets'], resourceNames: ['tokenkeep-reactor-client'] },
          verbs: ['get', 'create', 'patch'],
        },
      ]);
      expect(places('pods')).to.deep.equal(['Role reactors']);
      // What is refused is told wherever it would have been written.
      expect(places('events')).to.have.members([
        ...['Role payments', 'Role checkout', 'Role reactors', 'Role default', own],
      ]);
    });

    it('let an operator do in watched namespaces what it may do in all, no less and no more', async () => {
      const operator = { namespace: RELEASE.namespace, name: 'tokenkeep-operator' };
      const actions = async (values: ChartValues): Promise<string[]> => {
        const grants = grantsOf(await renderChart(values), operator);
        return [...new Set(grants.map(({ action }) => action))].sort();
      };
      const everywhere = await actions({});
      expect(everywhere).to.include('delete secrets');
      expect(await actions({ operator: { watchNamespaces: ['payments'] } })).to.deep.equal(everywhere);
    });

    describe('of people', () => {
      const BUILT_IN = ['view', 'edit', 'admin'];

      /** Verbs on a resource that each built-in role takes in. */
      async function takenIn(resource: string, values?: ChartValues): Promise<Record<string, string[]>> {
        const roles = ofKind('ClusterRole', await manifests(values));
        const verbsOf = (builtIn: string): string[] =>
          roles
            .filter(({ metadata }) => metadata.labels?.[`rbac.authorization.k8s.io/aggregate-to-${builtIn}`] === 'true')
            .flatMap(({ rules = [] }) => rules)
            .filter(({ resources }) => resources.includes(resource))
            .flatMap(({ verbs }) => verbs);
        return Object.fromEntries(BUILT_IN.map((builtIn) => [builtIn, [...new Set(verbsOf(builtIn))]]));
      }

      const SEE = ['get', 'list', 'watch'];
      const DECLARE = ['create', 'delete', 'deletecollection', 'patch', 'update'];

      it('let the built-in roles see declarations, and change none', async () => {
        const seen = { view: SEE, edit: SEE, admin: SEE };
        expect(await takenIn('applications')).to.deep.equal(seen);
        expect(await takenIn('tenants')).to.deep.equal(seen);
      });

      it('let `edit` and `admin` declare where the values say so, save Tenants', async () => {
        const values = { rbac: { aggregateToEdit: true } };
        const declaring = { view: SEE, edit: [...SEE, ...DECLARE], admin: [...SEE, ...DECLARE] };
        for (const resource of ['applications', 'accessrules', 'reactors']) {
          const verbs = await takenIn(resource, values);
          for (const builtIn of BUILT_IN) expect(verbs[builtIn]).to.have.members(declaring[builtIn as 'view']);
        }
        expect(await takenIn('tenants', values)).to.deep.equal({ view: SEE, edit: SEE, admin: SEE });
      });

      it('let whoever holds `tokenkeep-edit` alone apply declarations, which reads them first', async () => {
        const role = ofKind('ClusterRole', await manifests()).find(
          ({ metadata }) => metadata.name === 'tokenkeep-edit',
        );
        const [rule, ...others] = role!.rules!;
        expect(others).to.deep.equal([]);
        expect(rule!.resources).to.deep.equal(['applications', 'accessrules', 'reactors']);
        expect(rule!.verbs).to.have.members([...SEE, ...DECLARE]);
      });

      it('are in no built-in role where the values say so', async () => {
        const values = { rbac: { aggregateToView: false } };
        expect(await takenIn('applications', values)).to.deep.equal({ view: [], edit: [], admin: [] });
      });
    });

    it('let implementations of Service Binding read applications', async () => {
      const [role, ...others] = ofKind('ClusterRole', await manifests()).filter(
        ({ metadata }) => metadata.labels?.['servicebinding.io/controller'] === 'true',
      );
      expect(others).to.deep.equal([]);
      expect(role?.rules).to.deep.equal([
        { apiGroups: ['tokenkeep.dev'], resources: ['applications'], verbs: ['get', 'list', 'watch'] },
      ]);
    });

    it('let the API review tokens and nothing else', async () => {
      const role = ofKind('ClusterRole', await manifests()).find(({ metadata }) => metadata.name === 'tokenkeep-api');
      expect(role?.rules).to.deep.equal([
        { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      ]);
    });
  });
});

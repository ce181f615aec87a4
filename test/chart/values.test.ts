import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { CHART, helm, NEEDED_VALUES, renderChart, requireHelm, templateChart } from '../support/kubernetes/helm.ts';
import type { ChartValues } from '../support/kubernetes/helm.ts';

describe('values of the chart', () => {
  before(async function () {
    await requireHelm(this);
  });

  it('satisfy helm lint by default', async () => {
    const { code, stdout, stderr } = await helm(['lint', CHART, '--strict']);
    expect(code, stdout + stderr).to.equal(0);
  });

  it('have a default each, and the schema knows no other', async () => {
    const values = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as Node;
    const schema = JSON.parse(await readFile(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
    expect(pathsOf(values)).to.deep.equal(pathsInSchema(schema).filter((path) => !OF_HELM.includes(path)));
  });

  it('pass the schema as they are', async () => {
    // What lint does not fail for: that nobody has said where the database is.
    const { code, stderr } = await templateChart();
    expect(code).not.to.equal(0);
    expect(stderr).to.include('These values do not go together').and.not.include('schema');
  });

  const accepted: Record<string, ChartValues> = {
    'a subset of them': { crds: { keep: false } },
    'what Helm passes to a chart that another depends on': { global: { region: 'eu' } },
    'annotations of ServiceAccounts': { api: { serviceAccount: { annotations: { 'example.com/role': 'api' } } } },
    'an image without a registry': { image: { registry: '', repository: 'localhost/tokenkeep', tag: 'test' } },
    'users that the platform gives': { podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } },
    'a switch by which a chart that depends on it leaves it out': { enabled: true },
    'quantities of each form': { api: { resources: { limits: { cpu: 0.5, memory: '1e9' } } } },
    'a time of two units': { metrics: { serviceMonitor: { enabled: true, interval: '1m30s', scrapeTimeout: '80s' } } },
    'a limit of CPU': { api: { resources: { limits: { cpu: 2, memory: '1.5Gi' } } } },
  };
  for (const [what, values] of Object.entries(accepted)) {
    it(`may be ${what}`, async () => {
      expect(await renderChart(values)).to.include('kind: ServiceAccount');
    });
  }

  const refused: Record<string, [values: ChartValues, at: string]> = {
    'an unknown one': [{ operators: {} }, 'operators'],
    'a name that leaves no room for those it begins': [{ fullnameOverride: 'a'.repeat(47) }, '/fullnameOverride'],
    'a time without a unit': [{ metrics: { podMonitor: { interval: '30' } } }, '/podMonitor/interval'],
    'no time at all': [{ metrics: { podMonitor: { interval: '' } } }, '/podMonitor/interval'],
    'an unknown one within another': [{ operator: { watchNamespace: 'payments' } }, '/operator'],
    'an unknown one of a ServiceAccount': [{ api: { serviceAccount: { create: true } } }, '/api/serviceAccount'],
    'a text for a switch': [{ crds: { keep: 'yes' } }, '/crds/keep'],
    'a text for a list of namespaces': [{ operator: { watchNamespaces: 'payments' } }, '/operator/watchNamespaces'],
    'what cannot name a namespace': [{ operator: { watchNamespaces: ['Pay*'] } }, '/operator/watchNamespaces/0'],
    'a namespace twice': [{ operator: { watchNamespaces: ['a', 'a'] } }, '/operator/watchNamespaces'],
    'a namespace of reactors that cannot be one': [{ reactors: { namespace: 'Re*' } }, '/reactors/namespace'],
    'an annotation that is no text': [{ api: { serviceAccount: { annotations: { a: 1 } } } }, '/annotations/a'],
    'a Secret by its name alone': [{ database: { existingSecret: 'db' } }, '/database/existingSecret'],
    'parameters with the ? that is put before them': [{ database: { urlParameters: '?sslmode=a' } }, '/urlParameters'],
    'an address of Vault with a path': [{ vault: { address: 'https://v/v1' } }, '/vault/address'],
    'an address of Vault without a scheme': [{ vault: { address: 'vault:8200' } }, '/vault/address'],
    'a way to log in that there is not': [{ vault: { auth: 'github' } }, '/vault/auth'],
    'a duration without a unit': [{ vault: { timeout: '5' } }, '/vault/timeout'],
    'a digest that is none': [{ image: { digest: 'latest' } }, '/image/digest'],
    'a tag with a digest in it': [{ image: { tag: '1@sha256:00' } }, '/image/tag'],
    'a public URL with a path': [{ publicUrl: 'https://vault.example/api' }, '/publicUrl'],
    'a negative number of replicas': [{ api: { replicas: -1 } }, '/api/replicas'],
    'replicas as a text': [{ operator: { replicas: '2' } }, '/operator/replicas'],
    'a port beyond all': [{ api: { service: { port: 70000 } } }, '/api/service/port'],
    'a quantity that is none': [{ api: { resources: { limits: { memory: '1 GB' } } } }, '/limits/memory'],
    'an argument that is none': [{ api: { extraArgs: ['log-level debug'] } }, '/api/extraArgs/0'],
    'a variable as a map': [{ operator: { extraEnv: { A: 'b' } } }, '/operator/extraEnv'],
    'a mode that there is not': [{ migrations: { mode: 'hook' } }, '/migrations/mode'],
    'a way of rendering that there is not': [{ metrics: { renderMode: 'always' } }, '/metrics/renderMode'],
    'a label that the chart sets itself': [{ commonLabels: { 'app.kubernetes.io/name': 'x' } }, '/commonLabels'],
    'a label by which pods are found': [
      { api: { podLabels: { 'app.kubernetes.io/component': 'x' } } },
      '/api/podLabels',
    ],
    'DNS at any address': [{ networkPolicy: { dns: { to: [] } } }, '/networkPolicy/dns/to'],
    'an object that is none': [{ extraObjects: [1] }, '/extraObjects/0'],
  };
  for (const [what, [values, at]] of Object.entries(refused)) {
    it(`cannot be ${what}`, async () => {
      const { code, stderr } = await templateChart({ ...NEEDED_VALUES, ...values });
      expect(code).not.to.equal(0);
      expect(stderr).to.include(at);
    });
  }

  const DEV = { dev: { enabled: true } };
  const { database, vault } = NEEDED_VALUES;
  const together: Record<string, [values: ChartValues, ...faults: string[]]> = {
    'no database and no keys': [{}, 'database.existingSecret.name: name a Secret', 'vault.address: name the Vault'],
    'a first look with what only production has': [
      {
        ...DEV,
        database: { url: 'postgres://a@b/c', migration: { existingSecret: { name: 'owner' } } },
        vault,
        migrations: { mode: 'Manual' },
        redis: { url: 'redis://r' },
        api: { autoscaling: { enabled: true }, ingress: { enabled: true, hosts: ['a'] } },
      },
      'cannot be given together with database.url',
      'cannot be given together with database.migration',
      'cannot be given together with migrations.mode',
      'cannot be given together with vault.address',
      'cannot be given together with redis',
      'cannot be given together with api.autoscaling.enabled',
      'cannot be given together with api.ingress.enabled',
    ],
    'a first look with a login to Vault': [
      {
        ...DEV,
        vault: {
          ...{ auth: 'token', token: { file: '/t' }, approle: { roleId: 'a' }, namespace: 'n' },
          ca: { existingSecret: { name: 'ca' } },
        },
      },
      ...['auth', 'token', 'approle', 'namespace', 'ca'].map((name) => `cannot be given together with vault.${name}`),
    ],
    'a first look twice': [{ ...DEV, api: { replicas: 2 } }, 'leave out api.replicas'],
    'URLs of something else': [
      {
        ...{ vault, redis: { url: 'http://u:secret@h' } },
        database: { url: 'mysql://u:secret@h/d', migration: { url: 'db' } },
      },
      'database.url: must be a URL such as postgres://',
      'database.migration.url: must be a URL',
      'redis.url: must be a URL such as rediss://',
    ],
    'parameters twice': [
      { vault, database: { url: 'postgres://u@h/d?sslmode=require', urlParameters: 'sslmode=verify-full' } },
      'database.url: has parameters of its own',
    ],
    'a URL beside a Secret': [
      { vault, database: { ...database, url: 'postgres://a@b/c' } },
      'database.url: cannot be given together with database.existingSecret.name',
    ],
    'keys in clear': [{ database, vault: { address: 'http://vault:8200' } }, 'vault.address: must be https'],
    'an AppRole without its secret id': [
      { database, vault: { ...vault, auth: 'approle', approle: { roleId: 'a' } } },
      'vault.auth: approle needs',
    ],
    'no token to log in with': [{ database, vault: { ...vault, auth: 'token' } }, 'vault.auth: token needs'],
    'two of them': [
      { database, vault: { ...vault, auth: 'token', token: { file: '/t', existingSecret: { name: 't' } } } },
      'vault.auth: token needs',
    ],
    'replicas beside an autoscaler': [
      { database, vault, api: { replicas: 3, autoscaling: { enabled: true } } },
      'api.replicas: cannot be given together with api.autoscaling.enabled',
    ],
    'an autoscaler between no bounds': [
      { database, vault, api: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 4 } } },
      'api.autoscaling.minReplicas',
    ],
    'an ingress for no host': [{ database, vault, api: { ingress: { enabled: true } } }, 'api.ingress.hosts'],
    'a certificate that is not named': [
      { database, vault, internalTls: { mode: 'ExistingSecret' } },
      'internalTls.existingSecret: must be given',
    ],
    'a certificate that is not used': [
      { database, vault, internalTls: { existingSecret: 'mine' } },
      'internalTls.existingSecret: needs',
    ],
    'the own namespace made anew': [
      { database, vault, reactors: { createNamespace: true } },
      'reactors.createNamespace: needs reactors.namespace',
    ],
    'instances measured by nobody': [
      { database, vault, metrics: { reactorMonitor: { enabled: true } } },
      'metrics.reactorMonitor.enabled: needs reactors.metricsNamespaces',
    ],
    'a certificate that is kept longer than it is good': [
      { database, vault, internalTls: { generated: { validDays: 90 } } },
      'internalTls.generated.renewAfterDays: must be less',
    ],
    'a lease that is lost before it is given up': [
      { database, vault, operator: { leaderElection: { leaseDuration: '5s', retryPeriod: '1m' } } },
      'operator.leaderElection.leaseDuration: must be longer than renewDeadline',
      'operator.leaderElection.renewDeadline: must be longer than retryPeriod',
    ],
    'metrics that are asked for before they are there': [
      { database, vault, metrics: { serviceMonitor: { enabled: true, scrapeTimeout: '1m' } } },
      'metrics.serviceMonitor.scrapeTimeout',
    ],
    'everything counted twice': [
      { database, vault, metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } },
      'metrics.podMonitor.enabled',
    ],
  };
  for (const [what, [values, ...faults]] of Object.entries(together)) {
    it(`cannot be ${what}`, async () => {
      const { code, stderr } = await templateChart(values);
      expect(code).not.to.equal(0);
      const told = stderr.split('\n').filter((line) => line.startsWith('- '));
      expect(told).to.have.lengthOf(faults.length);
      expect(stderr).not.to.include('secret@');
      for (const [index, fault] of faults.entries()) expect(told.join('\n'), String(index)).to.include(fault);
    });
  }

  it('with kinds that the cluster lacks leave them out, or are refused, as told', async () => {
    const metrics = { serviceMonitor: { enabled: true } };
    expect(await renderChart({ metrics })).not.to.include('kind: ServiceMonitor');
    expect(await renderChart({ metrics: { ...metrics, renderMode: 'alwaysRender' } })).to.include('ServiceMonitor');
    const failing = { ...NEEDED_VALUES, metrics: { ...metrics, renderMode: 'failIfMissing' } };
    expect((await templateChart(failing)).stderr).to.include('The cluster knows no ServiceMonitor');
    const known = ['--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor'];
    const { code, stdout } = await templateChart(failing, undefined, known);
    expect([code, stdout.includes('kind: ServiceMonitor')]).to.deep.equal([0, true]);
  });
});

/** What Helm and charts that depend on this one give it, for themselves. */
const OF_HELM = ['global', 'enabled'];

type Node = Readonly<Record<string, unknown>>;

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
}

/** Maps that hold what the user names. */
const FREE =
  /(^|\.)(annotations|labels|commonLabels|podLabels|podAnnotations|nodeSelector|affinity|behavior|requests|limits|podSecurityContext|securityContext)(\.|$)/;

function pathsOf(values: Node, prefix = ''): string[] {
  const paths = Object.entries(values).flatMap(([key, value]) => {
    const path = `${prefix}${key}`;
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap && !FREE.test(path) ? pathsOf(value as Node, `${path}.`) : [path];
  });
  return prefix === '' ? paths.sort() : paths;
}

function pathsInSchema(root: Schema, schema: Schema = root, prefix = ''): string[] {
  const paths = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const path = `${prefix}${key}`;
    const found = property.$ref === undefined ? property : root.definitions![property.$ref.split('/').at(-1)!]!;
    return found.properties === undefined || FREE.test(path) ? [path] : pathsInSchema(root, found, `${path}.`);
  });
  return prefix === '' ? paths.sort() : paths;
}

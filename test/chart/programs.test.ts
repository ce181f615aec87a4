import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { readCommand, type RoleConfigs } from '../../src/config/command.ts';
import { renderChart, requireHelm, type ChartValues } from '../support/kubernetes/helm.ts';
import { containersOf, parseManifests, podsIn } from '../support/kubernetes/manifests.ts';
import type { Container, Manifest, RenderedPod, Volume } from '../support/kubernetes/manifests.ts';
import { VALUE_SET_NAMES, VALUE_SETS } from './value-sets.ts';

const POD_IP = { IPv4: '10.1.2.3', IPv6: '2001:db8::3' };
interface Program {
  readonly origin: string;
  readonly container: Container;
  readonly volumes: readonly Volume[];
}

/** The containers that run a role of ours. */
function programsIn(pods: readonly RenderedPod[]): Program[] {
  return pods.flatMap(({ origin, spec }) =>
    containersOf(spec)
      .filter(({ image, command }) => image.includes('tokenkeep') && command === undefined)
      .map((container) => ({ origin, container, volumes: spec.volumes ?? [] })),
  );
}

function filesOf({ secret, projected, emptyDir }: Volume): string[] {
  if (secret !== undefined) return secret.items?.map(({ path }) => path) ?? [];
  if (emptyDir !== undefined) return ['token'];
  return (projected?.sources ?? []).flatMap((source) =>
    Object.values(source).flatMap(({ path, items = [] }) => [
      ...(path === undefined ? [] : [path]),
      ...items.map((item) => item.path),
    ]),
  );
}

describe('programs that the chart runs', () => {
  let root: string;

  before(async function () {
    await requireHelm(this);
  });
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tokenkeep-pod-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const known = new Map<string, Promise<string>>();

  async function rendered(values: ChartValues): Promise<Manifest[]> {
    const key = JSON.stringify(values);
    if (!known.has(key)) known.set(key, renderChart({ ...values, crds: { enabled: false } }));
    return parseManifests(await known.get(key)!);
  }

  /** Lays out below `root` what a container finds mounted; the API server's files lie nowhere else. */
  async function mount({ container, volumes }: Program): Promise<void> {
    for (const { name, mountPath } of container.volumeMounts ?? []) {
      const volume = volumes.find((each) => each.name === name);
      expect(volume, `${container.name} mounts ${name}`).not.to.equal(undefined);
      await mkdir(join(root, mountPath), { recursive: true });
      for (const file of filesOf(volume!)) {
        await mkdir(dirname(join(root, mountPath, file)), { recursive: true });
        const isUrl = file === 'url';
        const url = mountPath.endsWith('redis') ? 'rediss://redis:6379' : 'postgres://a:b@db:5432/vault';
        await writeFile(join(root, mountPath, file), isUrl ? url : 'content');
      }
    }
  }

  /** As the kubelet expands arguments and the environment, with every absolute path below `root`. */
  function environmentOf({ env = [], args = [] }: Container): Record<string, string> {
    const podIp = POD_IP[args.join().includes('[$(POD_IP)]') ? 'IPv6' : 'IPv4'];
    const environment: Record<string, string> = {};
    for (const { name, value } of env) {
      const fromElsewhere = name === 'POD_IP' ? podIp : 'postgres://a:b@db:5432/vault';
      environment[name] = value === undefined ? fromElsewhere : expand(value, environment);
    }
    return environment;
  }

  function expand(argument: string, environment: Record<string, string>): string {
    return argument.replace(
      /\$\((\w+)\)/g,
      (_, name: string) => environment[name] ?? expect.fail(`${name} is not set`),
    );
  }

  async function configOf(program: Program) {
    await mount(program);
    const { args = [] } = program.container;
    const environment = environmentOf(program.container);
    const expanded = args.map((arg) => expand(arg, environment).replace(/=(?=\/(?:etc|var|vault)\/)/, `=${root}`));
    const command = readCommand(expanded, environment);
    if (command.action !== 'run') return expect.fail(`${program.origin}: ${JSON.stringify(command)}`);
    return command;
  }

  async function roleOf<R extends keyof RoleConfigs>(role: R, values: ChartValues): Promise<RoleConfigs[R]> {
    for (const program of programsIn(podsIn(await rendered(values)))) {
      const command = await configOf(program);
      if (command.role === role) return command.config as RoleConfigs[R];
    }
    return expect.fail(`no ${role}`);
  }

  it('say their own address in the form of its family', async () => {
    expect((await roleOf('api', VALUE_SETS.default)).svcUrl).to.equal('https://10.1.2.3:8444');
    const six = await roleOf('api', VALUE_SETS.cloudnativepg);
    expect(six).to.include({ svcUrl: 'https://[2001:db8::3]:8444', host: '::', internalHost: '::' });
    expect(await roleOf('operator', VALUE_SETS.default)).to.include({ host: '0.0.0.0', reactorHost: '0.0.0.0' });
    expect(await roleOf('operator', VALUE_SETS.cloudnativepg)).to.include({ host: '::', reactorHost: '::' });
  });

  for (const name of VALUE_SET_NAMES) {
    it(`take all arguments that ${name} gives them, and find every file that these name`, async () => {
      const programs = programsIn(podsIn(await rendered(VALUE_SETS[name])));
      const roles: string[] = [];
      for (const program of programs) roles.push((await configOf(program)).role);
      const migrates = name === 'everything' ? [] : ['migrate'];
      expect(roles.sort()).to.deep.equal(['api', ...migrates, 'operator']);
    });
  }

  it('know of each other: what one listens on, another one calls', async () => {
    for (const name of VALUE_SET_NAMES) {
      const api = await roleOf('api', VALUE_SETS[name]);
      const operator = await roleOf('operator', VALUE_SETS[name]);
      const services = (await rendered(VALUE_SETS[name])).filter(({ kind }) => kind === 'Service');
      const pods = podsIn(await rendered(VALUE_SETS[name]));
      const { spec, labels } = pods.find(({ origin }) => /^Deployment .*-api$/.test(origin))!;
      const ports = Object.fromEntries(
        (spec.containers[0] as unknown as { ports: { name: string; containerPort: number }[] }).ports.map(
          ({ name: port, containerPort }) => [port, containerPort],
        ),
      );
      expect(ports).to.include({ http: api.port, internal: api.internalPort, metrics: api.metricsPort });

      const internal = new URL(operator.internalUrl);
      const { namespace, name: service } = operator.internalService!;
      expect(internal.hostname).to.equal(`${service}.${namespace}.svc`);
      const found = services.find(({ metadata }) => metadata.name === service)!;
      expect(found.metadata.namespace).to.equal(namespace);
      const [port] = found.spec!['ports'] as { port: number; targetPort: string }[];
      expect([String(port!.port), ports[port!.targetPort]]).to.deep.equal([internal.port, api.internalPort]);
      if (operator.reactorImage === undefined) {
        expect(api.reactorTlsDir).to.equal(undefined);
        continue;
      }
      expect([ports['svc'], operator.apiPodPort]).to.deep.equal([api.svcPort, api.svcPort]);
      expect(labels).to.include(operator.apiPodLabels);
      expect(operator.apiPodNamespace).to.equal(namespace);
      const metrics = new URL(operator.apiMetricsUrl!);
      expect(Number(metrics.port)).to.equal(api.metricsPort);
      expect(services.map(({ metadata }) => `${metadata.name}.${metadata.namespace}.svc`)).to.include(metrics.hostname);
    }
  });

  it('are let in as each other by the ServiceAccount that the operator runs as', async () => {
    for (const name of VALUE_SET_NAMES) {
      const { controlPlaneServiceAccounts } = await roleOf('api', VALUE_SETS[name]);
      const operator = (await rendered(VALUE_SETS[name])).find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-operator'),
      )!;
      const { serviceAccountName } = (operator.spec!['template'] as { spec: { serviceAccountName: string } }).spec;
      expect(controlPlaneServiceAccounts).to.deep.equal([
        { namespace: operator.metadata.namespace, name: serviceAccountName },
      ]);
    }
  });

  it('show each token to one audience alone', async () => {
    const tokens: Record<string, string[]> = {};
    for (const { origin, spec } of podsIn(await rendered(VALUE_SETS.default))) {
      const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
      tokens[origin] = sources
        .filter(({ serviceAccountToken: token }) => token !== undefined)
        .map((source) => (source['serviceAccountToken'] as { audience?: string }).audience ?? 'Kubernetes')
        .sort();
    }
    expect(tokens).to.deep.equal({
      'Deployment tokenkeep-api': ['Kubernetes', 'vault'],
      'Deployment tokenkeep-operator': ['Kubernetes', 'tokenkeep'],
      'Pod tokenkeep-test': [],
      'Job tokenkeep-migrate': [],
    });
  });

  it('hold the owner of the tables where they migrate, and nowhere else', async () => {
    const values = { ...VALUE_SETS.cloudnativepg };
    for (const mode of ['Hook', 'InitContainer']) {
      for (const urlParameters of ['', 'sslmode=require']) {
        const database = { ...values.database, urlParameters };
        const pods = podsIn(await rendered({ ...values, database, migrations: { mode } }));
        const holders = pods.flatMap(({ spec }) =>
          containersOf(spec)
            .filter(({ env, volumeMounts = [] }) => {
              const mounted = volumeMounts.map(({ name }) => spec.volumes!.find((volume) => volume.name === name));
              return JSON.stringify([env, mounted]).includes('vault-db-app');
            })
            .map(({ name }) => name),
        );
        expect(holders, `${mode} ${urlParameters}`).to.deep.equal(['migrate']);
      }
    }
  });

  it('have no variable of a Service taken for a setting', async () => {
    for (const name of VALUE_SET_NAMES) {
      for (const { origin, spec } of podsIn(await rendered(VALUE_SETS[name]))) {
        expect(spec, `${name} ${origin}`).to.include({
          enableServiceLinks: false,
          automountServiceAccountToken: false,
        });
      }
    }
  });

  it('find, as `helm test`, whether the API answers and lets nobody in without a key', async () => {
    const [test] = podsIn(await rendered(VALUE_SETS.default)).filter(({ origin }) => origin === 'Pod tokenkeep-test');
    const { command = [], args = [] } = test!.spec.containers[0]!;
    expect(args.at(-1)).to.equal('http://tokenkeep.tokenkeep-system.svc:80');
    const run = async (statuses: Record<string, number>): Promise<[code: number | null, output: string]> => {
      const server = createServer(({ url }, response) => response.writeHead(statuses[url!] ?? 404).end());
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const [, ...flags] = command;
      const child = spawn(process.execPath, [...flags, ...args.slice(0, -1), `http://127.0.0.1:${port}`]);
      const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
      server.close();
      return [child.exitCode, output];
    };
    const healthy = { '/readyz': 200, '/openapi.json': 200, '/tokens/none': 401 };
    expect(await run(healthy)).to.deep.equal([
      0,
      'ok: GET /readyz answered 200\nok: GET /openapi.json answered 200\nok: GET /tokens/none answered 401\n',
    ]);
    for (const wrong of [{ '/readyz': 503 }, { '/tokens/none': 200 }]) {
      const [code, output] = await run({ ...healthy, ...wrong });
      expect([code, output.match(/^FAILED/gm)?.length]).to.deep.equal([1, 1]);
    }
  });

  it('are given the time that they need to end', async () => {
    for (const [drainSeconds, graceSeconds] of [
      [0, 1],
      [60, 120],
    ] as const) {
      const manifests = await rendered({ api: { drainSeconds, graceSeconds } });
      const [api] = podsIn(manifests).filter(({ origin }) => /-api$/.test(origin));
      const { terminationGracePeriodSeconds, containers } = api!.spec as unknown as {
        terminationGracePeriodSeconds: number;
        containers: Container[];
      };
      expect(containers[0]!.args).to.include.members([
        `--drain-seconds=${drainSeconds}`,
        `--grace-seconds=${graceSeconds}`,
      ]);
      // The program ends by itself within 5 s more.
      expect(terminationGracePeriodSeconds).to.be.at.least(drainSeconds + graceSeconds + 10);
    }
  });
});

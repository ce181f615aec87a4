import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { randomCardNumber } from '../../support/canary.ts';
import { eventually } from '../../support/eventually.ts';
import { requireKubernetes } from '../../support/kubernetes/control-plane.ts';
import { createKubectlStage } from '../../support/kubectl/stage.ts';
import type { KubectlStage } from '../../support/kubectl/stage.ts';
import { SAMPLES, startStandalone } from '../../support/standalone.ts';
import type { StandaloneProgram } from '../../support/standalone.ts';
import { createStandaloneFolder } from '../../support/standalone-folder.ts';
import type { StandaloneFolder } from '../../support/standalone-folder.ts';

const API_LABELS = { 'app.kubernetes.io/name': 'tokenkeep', 'app.kubernetes.io/component': 'api' };

describe('kubectl tokenkeep with a vault in the cluster', function () {
  this.timeout(60_000);
  let stage: KubectlStage;
  let vault: StandaloneProgram;
  let folder: StandaloneFolder;
  let system: string;
  let namespace: string;
  let key: string;
  /** Where the pods and what is declared are. */
  let places: string[];

  before(async function () {
    this.timeout(600_000);
    const cluster = await requireKubernetes(this);
    folder = await createStandaloneFolder(SAMPLES);
    vault = await startStandalone({ ...folder, manifests: folder.manifests });
    key = await vault.keyOf('payments');
    const reactorId = await eventually(async () => {
      const { body } = await vault.request('GET', '/reactors', { key: await vault.keyOf('admin') });
      return body.data[0].id as string;
    });
    stage = await createKubectlStage(cluster);
    [system, namespace] = [await stage.namespace(), await stage.namespace()];
    places = ['-n', namespace, '--system-namespace', system];
    const port = Number(new URL(vault.baseUrl).port);
    await stage.pod({
      ...{ name: 'api', namespace: system, labels: API_LABELS, container: 'api', ports: { http: port, metrics: 9 } },
      args: ['api', '--port=8080', `--keyring-dir=${vault.dataDir}`],
    });
    const application = { kind: 'Application', namespace, spec: { type: 'private' } } as const;
    await stage.declare({ ...application, name: 'payments', status: { secretName: 'payments-api-key' } });
    await stage.declare({ ...application, name: 'keyless', status: { secretName: 'keyless-api-key' } });
    await stage.declare({ ...application, name: 'pending' });
    await stage.secret(namespace, 'payments-api-key', { 'api-key': key });
    await stage.secret(namespace, 'keyless-api-key', { 'base-url': 'http://tokenkeep' });
    const reactor = { kind: 'Reactor', namespace, spec: { code: '1', applicationRef: { name: 'payments' } } } as const;
    await stage.declare({ ...reactor, name: 'card-brand', status: { id: reactorId } });
    await stage.declare({ ...reactor, name: 'unknown' });
  });
  after(async () => {
    await stage?.close();
    await vault?.stop();
    await folder?.dispose();
  });

  it('tokenizes standard input and a file, and shows plaintext again', async () => {
    const number = randomCardNumber();
    const document = JSON.stringify({ card: number, note: 'gift', list: [1, 'two'] });
    const tokenized = await stage.run(['tokenize', '--application', 'payments', ...places], { input: document });
    expect(tokenized).to.include({ code: 0, stderr: '' });
    expect(tokenized.stdout).to.not.include(number);
    const tokens = JSON.parse(tokenized.stdout) as { card: string; note: string };

    const one = await stage.run(['detokenize', tokens.card, '--application', 'payments', ...places]);
    expect(one).to.deep.equal({ code: 0, stdout: `${number}\n`, stderr: '' });
    const two = await stage.run(['detokenize', tokens.card, tokens.note, '--application', 'payments', ...places]);
    expect(JSON.parse(two.stdout)).to.deep.equal({ [tokens.card]: number, [tokens.note]: 'gift' });

    const home = await mkdtemp(join(tmpdir(), 'tokenkeep-plugin-'));
    await writeFile(join(home, 'data.json'), JSON.stringify({ last: `{{ ${tokens.card} | last4 }}` }));
    const args = ['detokenize', '--data', `@${join(home, 'data.json')}`, ...places];
    const { stdout } = await stage.run(args, { env: { TOKENKEEP_API_KEY: key } });
    expect(JSON.parse(stdout)).to.deep.equal({ last: number.slice(-4) });
    const direct = await stage.run([...args, '--url', vault.baseUrl], { env: { TOKENKEEP_API_KEY: key } });
    expect(JSON.parse(direct.stdout)).to.deep.equal({ last: number.slice(-4) });
    await rm(home, { recursive: true });
    expect(stage.kubelet.open.size, 'connections that were left open').to.equal(0);
  });

  it('runs a reactor, and shows what its code says of a failure', async () => {
    const args = ['reactor', 'invoke', 'card-brand', '--application', 'payments', ...places];
    const { code, stdout, stderr } = await stage.run(args, { input: '{"card":"4242424242424242"}' });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout).raw).to.deep.equal({ brand: 'visa', last4: '4242' });

    const failed = await stage.run(args, { input: '{}' });
    expect(failed).to.include({ code: 1, stdout: '' });
    expect(failed.stderr).to.match(/^the API answered [45]\d\d /);
  });

  it('runs keys and audit in the pod of the API, and ends as they end', async () => {
    const keys = await stage.run(['keys', 'status', '--system-namespace', system]);
    expect(keys.stdout)
      .to.match(/^MASTER KEY +CURRENT/)
      .and.match(/^tokens +v1/m);
    expect(keys.code).to.equal(0);
    const audit = await stage.run(['audit', 'verify', '--since', '1h', '--system-namespace', system]);
    expect(audit.stdout).to.include('Nothing was altered').and.include('does NOT REACH BACK as far as it must');
    expect(audit.stderr).to.include('links so far');
    expect(audit.code).to.equal(1);
  });

  const refusals: Record<string, { args: string[]; says: RegExp; input?: string }> = {
    'without a key': { args: ['tokenize'], says: /which key\? Give --application NAME, or/ },
    'with the key of no application': {
      args: ['tokenize', '--application', 'nobody'],
      says: /there is no Application nobody in the namespace/,
    },
    'with an application that has no Secret yet': {
      args: ['tokenize', '--application', 'pending'],
      says: /the Application pending has no Secret/,
    },
    'with a Secret that holds no key': {
      args: ['tokenize', '--application', 'keyless'],
      says: /the Secret keyless-api-key holds no api-key/,
    },
    'with what is no JSON, which is not repeated': {
      args: ['tokenize', '--application', 'payments'],
      input: '4242 4242 4242 4242',
      says: /^tokenkeep: standard input holds no JSON\n$/,
    },
    'of a token that is not there': {
      args: ['detokenize', '9f4ee2cf-1ef1-4f3f-a1f3-2d4b4f0c8a01', '--application', 'payments'],
      says: /the API answered 4\d\d /,
    },
    'with an expression in the place of an ID': {
      args: ['detokenize', '{{ x }}', '--application', 'payments'],
      says: /expressions go into a document/,
    },
    'of a reactor that is not there': {
      args: ['reactor', 'invoke', 'nothing', '--application', 'payments'],
      says: /there is no Reactor nothing in the namespace/,
    },
    'of a reactor that the API does not have': {
      args: ['reactor', 'invoke', 'unknown', '--application', 'payments'],
      says: /the Reactor unknown is not in the API/,
    },
    'to an installation that is elsewhere': {
      args: ['tokenize', '--application', 'payments', '--system-namespace', 'default'],
      says: /there is no pod of the api in the namespace default; --system-namespace/,
    },
  };
  for (const [what, { args, says, input = '{}' }] of Object.entries(refusals)) {
    it(`refuses a call ${what}`, async () => {
      const where = args.includes('--system-namespace') ? ['-n', namespace] : places;
      const { code, stdout, stderr } = await stage.run([...args, ...where], { input });
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(says);
    });
  }

  it('says which permission is missing for a connection to the pod, and for a command in it', async () => {
    const kubeconfig = await stage.kubeconfigWith(system, 'get,list pods');
    const call = ['tokenize', '--system-namespace', system];
    const forwarded = await stage.run(call, { kubeconfig, input: '{}', env: { TOKENKEEP_API_KEY: key } });
    expect(forwarded).to.include({ code: 1, stdout: '' });
    expect(forwarded.stderr).to.include(
      `the cluster does not let you get and create "pods/portforward" in the namespace "${system}"`,
    );
    const run = await stage.run(['keys', 'status', '--system-namespace', system], { kubeconfig });
    expect(run.stderr).to.include('does not let you get and create "pods/exec"');

    const secretless = await stage.kubeconfigWith(namespace, 'get applications');
    const named = ['tokenize', '--application', 'payments', ...places];
    const keyed = await stage.run(named, { kubeconfig: secretless, input: '{}' });
    expect(keyed.stderr).to.match(/cannot get resource "secrets"/);
  });

  it('says that a pod does not answer on its port', async () => {
    const silent = await stage.namespace();
    await stage.pod({ name: 'api', namespace: silent, labels: API_LABELS, container: 'api', ports: { http: 9 } });
    const args = ['tokenize', '--system-namespace', silent];
    const { code, stderr } = await stage.run(args, { input: '{}', env: { TOKENKEEP_API_KEY: key } });
    expect(code).to.equal(1);
    expect(stderr).to.include('port 9 of pod api does not answer');
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { createKubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { loadKubeConfig } from '../../../../src/platform/kubernetes/kube-config.ts';
import { json, startScriptedApi } from '../../../support/kubernetes/scripted-api.ts';
import { rejection } from '../../../support/rejection.ts';

const AT = { group: '', version: 'v1', plural: 'pods', namespace: 'default', name: 'a' };

describe('the kubeconfig', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tokenkeep-kubeconfig-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function file(name: string, content: string): Promise<string> {
    const written = path.join(folder, name);
    await writeFile(written, content);
    return written;
  }

  function kubeconfig(server: string, user: object): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'here',
      clusters: [{ name: 'one', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'here', context: { cluster: 'one', user: 'me' } }],
    });
  }

  /** How a kubeconfig may name the file that a token lies in; the path may be relative to the kubeconfig. */
  const TOKEN_FILES: Record<string, (tokenFile: string) => object> = {
    tokenFile: (tokenFile) => ({ tokenFile }),
    'tokenFile, before a token of its own': (tokenFile) => ({ tokenFile, token: 'token_canary' }),
    'tokenFile, relative to itself': (tokenFile) => ({ tokenFile: path.basename(tokenFile) }),
    'token-file': (tokenFile) => ({ 'token-file': tokenFile }),
    'auth-provider': (tokenFile) => ({ 'auth-provider': { name: 'tokenFile', config: { tokenFile } } }),
  };
  for (const [way, userOf] of Object.entries(TOKEN_FILES)) {
    it(`signs each request with what its token file holds at that moment, named by ${way}`, async () => {
      const api = await startScriptedApi();
      const tokenFile = await file('token', 'first\n');
      const server = api.kubeConfig.getCurrentCluster()?.server ?? '';
      const content = kubeconfig(server, userOf(tokenFile));
      const client = createKubernetesClient({
        kubeConfig: loadKubeConfig({ kubeconfig: await file('config', content) }),
      });
      api.others.push(json({}), json({}));
      await client.read(AT);
      await file('token', 'second\n');
      await client.read(AT);
      expect(api.seen.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer first', 'Bearer second']);

      await rm(tokenFile);
      const error = await rejection(client.read(AT));
      expect(error.message).to.equal('GET /api/v1/namespaces/default/pods/a: no answer NotSignedIn');
      expect(error.cause).to.include({ code: 'ENOENT' });
      client.close();
      await api.close();
    });
  }

  it('does not sign with what is no token', async () => {
    for (const content of ['', 'two\nlines']) {
      const user = { tokenFile: await file('token', content) };
      const kubeConfig = loadKubeConfig({ kubeconfig: await file('config', kubeconfig('http://127.0.0.1:9', user)) });
      const client = createKubernetesClient({ kubeConfig });
      expect((await rejection(client.read(AT))).message).to.match(/: no answer NotSignedIn$/);
      client.close();
    }
  });

  it('says that its credential plugin failed, and nothing of what that printed', async () => {
    const plugins: Record<string, string> = {
      'fails with a message': 'echo token_canary >&2; exit 1',
      'answers something else': 'echo token_canary',
    };
    for (const [what, script] of Object.entries(plugins)) {
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
      const content = kubeconfig('http://127.0.0.1:9', { exec });
      const client = createKubernetesClient({
        kubeConfig: loadKubeConfig({ kubeconfig: await file('config', content) }),
      });
      const error = await rejection(client.read(AT));
      expect(error.message, what).to.match(/: no answer NotSignedIn$/);
      expect(inspect(error), what).not.to.include('token_canary');
      client.close();
    }
  });

  it('says which credential plugin is missing', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: path.join(folder, 'no-such-plugin') };
    const content = kubeconfig('http://127.0.0.1:9', { exec });
    const client = createKubernetesClient({
      kubeConfig: loadKubeConfig({ kubeconfig: await file('config', content) }),
    });
    const { cause } = await rejection(client.read(AT));
    expect(cause).to.include({ code: 'ENOENT' });
    client.close();
  });

  it('signs with a name and a password', async () => {
    const api = await startScriptedApi();
    const server = api.kubeConfig.getCurrentCluster()?.server ?? '';
    const content = kubeconfig(server, { username: 'me', password: 'pass' });
    const client = createKubernetesClient({
      kubeConfig: loadKubeConfig({ kubeconfig: await file('config', content) }),
    });
    api.others.push(json({}));
    await client.read(AT);
    expect(api.seen[0]?.headers.authorization).to.equal(`Basic ${Buffer.from('me:pass').toString('base64')}`);
    client.close();
    await api.close();
  });

  it('is refused where it cannot be read, and its content is never quoted', async () => {
    const missing = path.join(folder, 'missing');
    expect(() => loadKubeConfig({ kubeconfig: missing })).to.throw(`The kubeconfig ${missing} cannot be read (ENOENT)`);
    const broken = await file('broken', 'users:\n- token: token_canary\n  token: {');
    expect(inspect(failureOf(broken)))
      .to.match(/cannot be read/)
      .and.not.to.include('token_canary');
    expect(failureOf(await file('empty', '')).message).to.match(/cannot be read$/);
    expect(failureOf(await file('odd', '{"users": [null]}')).message).to.match(/cannot be read$/);
    expect(failureOf(await file('bare', '{"apiVersion": "v1"}')).message).to.match(/names no current cluster$/);
  });

  it('is refused outside of a cluster where no file is named', () => {
    const { KUBERNETES_SERVICE_HOST: host } = process.env;
    delete process.env.KUBERNETES_SERVICE_HOST;
    try {
      expect(() => loadKubeConfig({})).to.throw('No kubeconfig is given, and this process runs in no pod of a cluster');
    } finally {
      if (host !== undefined) process.env.KUBERNETES_SERVICE_HOST = host;
    }
  });

  it('is that of the ServiceAccount within a pod, with a token that is read anew', () => {
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
    Object.assign(process.env, { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' });
    try {
      const config = loadKubeConfig({});
      expect(config.getCurrentCluster()?.server).to.equal('https://10.96.0.1:443');
      expect(config.getCurrentCluster()?.skipTLSVerify).to.equal(false);
      expect(config.getCurrentUser()?.authProvider).to.deep.equal({
        name: 'reread-token-file',
        config: { path: '/var/run/secrets/kubernetes.io/serviceaccount/token' },
      });
    } finally {
      for (const [name, value] of Object.entries({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  function failureOf(config: string): Error {
    try {
      loadKubeConfig({ kubeconfig: config });
    } catch (error) {
      return error as Error;
    }
    return expect.fail('was not refused');
  }
});

import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTransit, type Transit, type VaultAuth } from '../../../src/keys/transit/transit.ts';
import { eventually } from '../../support/eventually.ts';
import { startLossyProxy, type LossyProxy } from '../../support/lossy-proxy.ts';
import { rejection } from '../../support/rejection.ts';
import { startTokenReviews, type TokenReviews } from '../../support/token-review.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

const POLICY = 'tokenkeep-api';

describe('logging in to Vault', () => {
  const tenantId = randomUUID();
  let transit: TestTransit;
  let folder: string;
  let proxy: LossyProxy;
  let opened: Transit | undefined;

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    proxy = await startLossyProxy(transit.server.address);
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-vault-login-'));
  });
  after(async () => {
    await proxy?.close();
    await transit?.dispose();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  async function open(auth: VaultAuth): Promise<Transit> {
    opened = await openTransit({ ...transit.optionsFor(''), address: proxy.address, auth });
    return opened;
  }

  const revoke = (token: string): Promise<unknown> =>
    transit.demand({ method: 'POST', path: 'auth/token/revoke', body: { token } });

  /** Of the last request, as Vault saw it. */
  const lastToken = (): string => String(proxy.passed.at(-1)!.headers['x-vault-token']);

  async function file(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    // As agents and kubelets do it: no reader sees half of one.
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    return path;
  }

  describe('by a token', () => {
    it('uses it for all that it asks', async () => {
      const token = await transit.tokenFor(POLICY);
      const management = await open({ method: 'token', token });
      await management.createDataKey('tokens', tenantId);
      expect(lastToken()).to.equal(token);
    });

    it('leaves it alive at the end: it is not ours', async () => {
      const token = await transit.tokenFor(POLICY);
      await (await open({ method: 'token', token })).close();
      expect((await transit.request({ path: 'auth/token/lookup-self', token })).status).to.equal(200);
    });

    it('renews it before it ends, for as long as that is possible', async () => {
      const management = await open({ method: 'token', token: await transit.tokenFor(POLICY, { ttl: '2s' }) });
      const renewals = (): number => proxy.passed.filter(({ path }) => path.endsWith('/auth/token/renew-self')).length;
      const before = renewals();
      await eventually(() => expect(renewals()).to.be.greaterThan(before + 2), { deadlineMs: 30_000 });
      await management.createDataKey('tokens', tenantId);
    });

    it('refuses to start with one that is not valid, and does not show it', async () => {
      const error = await rejection(open({ method: 'token', token: 's.canary-of-a-wrong-token' }));
      expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
      expect(error.message).to.include('VAULT_TOKEN').and.not.include('canary');
    });

    it('is unavailable once it is revoked, and does not show it', async () => {
      const token = await transit.tokenFor(POLICY);
      const management = await open({ method: 'token', token });
      await revoke(token);
      const error = await rejection(management.createDataKey('tokens', tenantId));
      expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
      expect(JSON.stringify(error) + error.message + error.stack).not.to.include(token);
    });
  });

  describe('by a file with a token', () => {
    it('takes what the file holds when it changes, without a request that fails', async () => {
      const [first, second] = [await transit.tokenFor(POLICY), await transit.tokenFor(POLICY)];
      const management = await open({ method: 'token-file', file: await file('token', `${first}\n`) });
      await management.createDataKey('tokens', tenantId);
      expect(lastToken()).to.equal(first);
      await file('token', second);
      await eventually(
        async () => {
          await management.createDataKey('tokens', tenantId);
          expect(lastToken()).to.equal(second);
        },
        { deadlineMs: 30_000 },
      );
    });

    it('reads it at once where the token is refused', async () => {
      const [first, second] = [await transit.tokenFor(POLICY), await transit.tokenFor(POLICY)];
      const management = await open({ method: 'token-file', file: await file('token-2', first) });
      await file('token-2', second);
      await revoke(first);
      await management.createDataKey('tokens', tenantId);
      expect(lastToken()).to.equal(second);
    });

    for (const [what, content] of [
      ['is empty', '\n'],
      ['holds more than a token', 's.canary\ns.canary'],
    ] as const) {
      it(`refuses a file that ${what}, by its name alone`, async () => {
        const path = await file('bad', content);
        const error = await rejection(open({ method: 'token-file', file: path }));
        expect(error.message).to.include(path).and.not.include('canary');
      });
    }

    it('refuses one that is not there', async () => {
      const path = join(folder, 'nowhere');
      const error = await rejection(open({ method: 'token-file', file: path }));
      expect(error.message).to.include(`${path}, needed to log in to Vault, cannot be read (ENOENT)`);
    });
  });

  describe('by AppRole', () => {
    let roleId: string;
    let secretIdFile: string;

    async function newSecretId(): Promise<string> {
      const { secret_id: secretId } = await transit.demand({
        method: 'POST',
        path: 'auth/machines/role/api/secret-id',
      });
      return secretId as string;
    }

    before(async () => {
      await transit.demand({ method: 'POST', path: 'sys/auth/machines', body: { type: 'approle' } });
      const role = { token_policies: [POLICY], token_ttl: '2s', token_max_ttl: '5s' };
      await transit.demand({ method: 'POST', path: 'auth/machines/role/api', body: role });
      ({ role_id: roleId } = await transit.demand({ path: 'auth/machines/role/api/role-id' }));
      secretIdFile = await file('secret-id', await newSecretId());
    });

    const auth = (): VaultAuth => ({ method: 'approle', mount: 'machines', roleId, secretIdFile });

    it('gets a token of its own, which ends with the process', async () => {
      const management = await open(auth());
      await management.createDataKey('tokens', tenantId);
      const token = lastToken();
      await management.close();
      expect((await transit.request({ path: 'auth/token/lookup-self', token })).status).to.equal(403);
    });

    it('leaves no token behind where its policy refuses what it asks', async () => {
      const role = { token_policies: [POLICY], token_ttl: '1h' };
      await transit.demand({ method: 'POST', path: 'auth/machines/role/long', body: role });
      const { role_id: longRoleId } = await transit.demand({ path: 'auth/machines/role/long/role-id' });
      const secret = await transit.demand({ method: 'POST', path: 'auth/machines/role/long/secret-id' });
      const longSecretIdFile = await file('long-secret-id', String(secret['secret_id']));
      const management = await open({
        ...auth(),
        roleId: String(longRoleId),
        secretIdFile: longSecretIdFile,
      } as VaultAuth);
      await management.createDataKey('tokens', tenantId);
      const first = lastToken();
      const error = await rejection(management.rotate('tokens'));
      expect(error.message).to.include('policy');
      await eventually(async () => {
        expect((await transit.request({ path: 'auth/token/lookup-self', token: first })).status).to.equal(403);
      });
      await management.createDataKey('tokens', tenantId);
    });

    it('logs in anew once the token cannot be renewed any longer', async () => {
      const management = await open(auth());
      await management.createDataKey('tokens', tenantId);
      const first = lastToken();
      await eventually(() => expect(lastToken()).not.to.equal(first), { deadlineMs: 30_000, everyMs: 100 });
      await management.createDataKey('tokens', tenantId);
    });

    it('logs in once where the token is revoked, however many notice, and no request fails', async () => {
      const management = await open(auth());
      await management.createDataKey('tokens', tenantId);
      const logins = (): number => proxy.passed.filter(({ path }) => path.endsWith('/login')).length;
      const before = logins();
      await revoke(lastToken());
      await Promise.all(Array.from({ length: 20 }, () => management.createDataKey('tokens', tenantId)));
      expect(logins()).to.equal(before + 1);
    });

    it('reads the secret id again at every login', async () => {
      const management = await open(auth());
      await management.createDataKey('tokens', tenantId);
      const first = lastToken();
      await file('secret-id', await newSecretId());
      await revoke(first);
      await management.createDataKey('tokens', tenantId);
      expect(lastToken()).not.to.equal(first);
    });

    it('refuses to start with a wrong secret id, and shows neither', async () => {
      const wrong = await file('wrong-secret-id', randomUUID());
      const error = await rejection(open({ method: 'approle', mount: 'machines', roleId, secretIdFile: wrong }));
      expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
      expect(error.message).to.include('auth/machines').and.include(wrong).and.not.include(roleId);
    });
  });

  describe('by Kubernetes', () => {
    let reviews: TokenReviews;

    before(async () => {
      reviews = await startTokenReviews();
      await transit.demand({ method: 'POST', path: 'sys/auth/kubernetes', body: { type: 'kubernetes' } });
      await transit.demand({
        method: 'POST',
        path: 'auth/kubernetes/config',
        body: {
          kubernetes_host: reviews.address,
          token_reviewer_jwt: reviews.issue('kube-system', 'vault'),
          disable_local_ca_jwt: true,
          // Needed even for the plain HTTP of these reviews.
          kubernetes_ca_cert: await readFile(transit.server.caFile, 'utf8'),
        },
      });
      const bound = { bound_service_account_names: ['api'], bound_service_account_namespaces: ['tokenkeep'] };
      const role = { ...bound, audience: 'https://kubernetes.default.svc', token_policies: [POLICY], token_ttl: '1h' };
      await transit.demand({ method: 'POST', path: 'auth/kubernetes/role/tokenkeep', body: role });
    });
    after(() => reviews?.close());

    const auth = (tokenFile: string): VaultAuth => ({
      method: 'kubernetes',
      mount: 'kubernetes',
      role: 'tokenkeep',
      tokenFile,
    });

    it('presents the token of its service account, which Vault has reviewed', async () => {
      const management = await open(auth(await file('jwt', reviews.issue('tokenkeep', 'api'))));
      await management.createDataKey('tokens', tenantId);
    });

    it('presents the token that the file holds by then, where it logs in anew', async () => {
      const old = reviews.issue('tokenkeep', 'api');
      const management = await open(auth(await file('jwt-2', old)));
      await management.createDataKey('tokens', tenantId);
      reviews.forget(old);
      await file('jwt-2', reviews.issue('tokenkeep', 'api'));
      await revoke(lastToken());
      await management.createDataKey('tokens', tenantId);
    });

    it('refuses to start as another service account, or with a token that is no more', async () => {
      const gone = reviews.issue('tokenkeep', 'api');
      reviews.forget(gone);
      for (const jwt of [reviews.issue('tokenkeep', 'operator'), reviews.issue('default', 'api'), gone]) {
        const error = await rejection(open(auth(await file('jwt-3', jwt))));
        expect(error.message).to.include('--vault-kubernetes-role').and.not.include(jwt);
      }
    });
  });
});

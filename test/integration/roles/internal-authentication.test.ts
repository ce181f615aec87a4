import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createInternalApp, type InternalAppOptions } from '../../../src/api/internal/app.ts';
import { acceptServiceAccounts } from '../../../src/api/internal/service-accounts.ts';
import { createInternalClient } from '../../../src/operator/internal-client.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createKubernetesClient, type KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { loadKubeConfig } from '../../../src/platform/kubernetes/kube-config.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createChangeFeed } from '../../../src/services/change-feed.ts';
import { eventually } from '../../support/eventually.ts';
import { requireOwnKubernetes, type KubernetesCluster } from '../../support/kubernetes/control-plane.ts';
import { createTokenForge, type TokenForge } from '../../support/kubernetes/token-forge.ts';

const OPERATOR = 'tokenkeep-system/tokenkeep-operator';
const API = 'tokenkeep-system/tokenkeep-api';
/** For so long Kubernetes vouches for a token that has expired: clocks differ. */
const LEEWAY_S = 60;
const DEADLINE = { deadlineMs: 60_000, everyMs: 50 };

interface Answer {
  status: number;
  challenge: string | null;
  body: { status: number; detail: string };
}

describe('the internal API, which asks Kubernetes whose a token is', function () {
  this.timeout(300_000);
  let folder: string;
  let forge: TokenForge;
  let cluster: KubernetesCluster;
  const clients: KubernetesClient[] = [];
  const servers: Server[] = [];

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-internal-'));
    forge = createTokenForge(folder);
    cluster = await requireOwnKubernetes(this, { apiServerFlags: forge.apiServerFlags });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  });
  after(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true });
  });

  /** The internal API over nothing: whoever is let in finds nothing there but the stream of changes. */
  async function serve(
    options: { acceptedMs?: number; as?: string } = {},
  ): Promise<{ url: string; reviews: () => number }> {
    const { as = API, ...remembering } = options;
    const kubeConfig = loadKubeConfig({ kubeconfig: await cluster.kubeconfigFor(as) });
    const client = createKubernetesClient({ kubeConfig, timeoutMs: 5_000 });
    clients.push(client);
    let reviews = 0;
    const kubernetes: Pick<KubernetesClient, 'create'> = {
      create: (...request) => {
        reviews++;
        return client.create(...request);
      },
    };
    const app = createInternalApp({
      authentication: acceptServiceAccounts({
        ...{ kubernetes, clock: systemClock, refusedMs: 1, ...remembering },
        accounts: [{ namespace: 'tokenkeep-system', name: 'tokenkeep-operator' }],
      }),
      declared: {} as InternalAppOptions['declared'],
      changes: createChangeFeed(),
      logger: silentLogger,
    });
    const handle = app.callback();
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reviews: () => reviews };
  }

  async function ask(url: string, authorization?: string): Promise<Answer> {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const response = await fetch(`${url}/internal/nothing`, { headers });
    const challenge = response.headers.get('www-authenticate');
    expect(response.headers.get('content-type')).to.include('application/problem+json');
    return { status: response.status, challenge, body: (await response.json()) as Answer['body'] };
  }

  const statusOf = async (url: string, token: string): Promise<number> => (await ask(url, `Bearer ${token}`)).status;
  /** What is answered to who is let in. */
  const NOTHING_THERE = 404;
  const inSeconds = (seconds: number): number => Date.now() + seconds * 1000;

  it('lets the operator in by a token of the right audience', async () => {
    const { url } = await serve();
    expect(await statusOf(url, await cluster.tokenFor(OPERATOR, 'tokenkeep'))).to.equal(NOTHING_THERE);
  });

  it('answers 401, and what to present, to whoever shows no token that Kubernetes vouches for', async () => {
    const { url } = await serve();
    const stranger = createTokenForge(folder);
    const refused: Record<string, string | undefined> = {
      none: undefined,
      'another scheme': `Basic ${Buffer.from('operator:secret').toString('base64')}`,
      'an empty one': 'Bearer ',
      garbage: 'Bearer garbage',
      'one for the Kubernetes API': `Bearer ${await cluster.tokenFor(OPERATOR)}`,
      'one for another service': `Bearer ${await cluster.tokenFor(OPERATOR, 'vault')}`,
      'that of an administrator': `Bearer ${cluster.adminToken}`,
      'one that has expired': `Bearer ${await forge.issue(cluster, OPERATOR, 'tokenkeep', inSeconds(-LEEWAY_S - 60))}`,
      'one that another key has signed': `Bearer ${await stranger.issue(cluster, OPERATOR, 'tokenkeep', inSeconds(60))}`,
    };
    for (const [what, authorization] of Object.entries(refused)) {
      const { status, challenge, body } = await ask(url, authorization);
      expect([status, challenge, body.status], what).to.deep.equal([401, 'Bearer realm="tokenkeep internal"', 401]);
    }
  });

  it('answers 403 to another ServiceAccount with a token of the right audience', async () => {
    const { url } = await serve();
    for (const account of ['tokenkeep-system/other', 'default/tokenkeep-operator']) {
      const { status, challenge, body } = await ask(url, `Bearer ${await cluster.tokenFor(account, 'tokenkeep')}`);
      expect([status, challenge, body.status], account).to.deep.equal([403, null, 403]);
    }
  });

  it('asks once about one token, however many present it at once and after', async () => {
    const { url, reviews } = await serve();
    const token = await cluster.tokenFor(OPERATOR, 'tokenkeep');
    const all = await Promise.all(Array.from({ length: 20 }, () => statusOf(url, token)));
    expect(new Set(all)).to.deep.equal(new Set([NOTHING_THERE]));
    expect(await statusOf(url, token)).to.equal(NOTHING_THERE);
    expect(reviews()).to.equal(1);
  });

  it('lets a token in for as long as Kubernetes vouches for it, and ends the stream that it opened', async () => {
    const { url } = await serve();
    const token = await forge.issue(cluster, OPERATOR, 'tokenkeep', inSeconds(20 - LEEWAY_S));
    const stream = createInternalClient({ baseUrl: url, token }).changes(new AbortController().signal);
    expect((await stream.next()).value).to.deep.equal({ kind: 'resync' });
    expect(await statusOf(url, token)).to.equal(NOTHING_THERE);
    for await (const change of stream) expect(change).to.deep.equal({ kind: 'ping' });
    expect(await statusOf(url, token)).to.equal(401);
  });

  it('ends the stream of a ServiceAccount that is deleted, once what is remembered of it is forgotten', async () => {
    const { url } = await serve({ acceptedMs: 1_000 });
    const token = await cluster.tokenFor(OPERATOR, 'tokenkeep');
    const stream = createInternalClient({ baseUrl: url, token }).changes(new AbortController().signal);
    expect((await stream.next()).value).to.deep.equal({ kind: 'resync' });
    await cluster.demand(['delete', 'serviceaccount', 'tokenkeep-operator', '-n', 'tokenkeep-system']);
    for await (const change of stream) expect(change).to.deep.equal({ kind: 'ping' });
    expect(await statusOf(url, token)).to.equal(401);
  });

  it('answers 503, and lets nobody in whom it does not remember, while Kubernetes is away', async () => {
    const { url } = await serve({ acceptedMs: 5_000 });
    const token = await cluster.tokenFor(OPERATOR, 'tokenkeep');
    const unknown = await cluster.tokenFor(OPERATOR, 'tokenkeep');
    expect(await statusOf(url, token)).to.equal(NOTHING_THERE);
    await cluster.killApiServer();
    const { status, body } = await ask(url, `Bearer ${unknown}`);
    expect([status, body.detail]).to.deep.equal([
      503,
      'Whose this token is cannot be found out: the Kubernetes API does not answer.',
    ]);
    await eventually(async () => expect(await statusOf(url, token)).to.equal(503), DEADLINE);
    await cluster.startApiServer();
    await eventually(async () => expect(await statusOf(url, token)).to.equal(NOTHING_THERE), DEADLINE);
    expect(await statusOf(url, unknown)).to.equal(NOTHING_THERE);
  });

  it('answers 503, and says what is missing, where it may not review tokens itself', async () => {
    const { url } = await serve({ as: 'tokenkeep-system/without-rights' });
    const { status, body } = await ask(url, `Bearer ${await cluster.tokenFor(OPERATOR, 'tokenkeep')}`);
    expect(status).to.equal(503);
    expect(body.detail).to.include('system:auth-delegator');
  });
});

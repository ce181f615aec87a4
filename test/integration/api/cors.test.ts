import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { OpenApiDocument } from '../../support/openapi.ts';
import { CrossOriginError, fetchAsPage } from '../../support/page.ts';
import { startTestVault, type Answer, type TestVault } from '../../support/vault.ts';

const SHOP = 'https://shop.example';
const OTHER_SHOP = 'http://localhost:3000';
const STRANGERS = [
  ...['https://evil.example', 'http://shop.example', 'https://shop.example:8443', 'https://shop.example.evil.example'],
  ...['https://evil-shop.example', 'https://SHOP.example', 'null', `${SHOP}, ${OTHER_SHOP}`],
];
const CARD = { type: 'card', data: { number: '4242424242424242' } };

function corsOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
}

function listed(answer: Answer, name: string): string[] {
  return (answer.headers.get(name) ?? '').split(', ').filter((entry) => entry !== '');
}

describe('pages of other origins', () => {
  let vault: TestVault;
  let open: TestVault;
  let closed: TestVault;

  before(async () => {
    vault = await startTestVault({ corsOrigins: [SHOP, OTHER_SHOP] });
    open = await startTestVault({ corsOrigins: ['*'] });
    closed = await startTestVault();
  });
  after(async () => {
    await vault.stop();
    await open.stop();
    await closed.stop();
  });

  function preflight(path: string, method = 'POST', origin = SHOP, asked = vault): Promise<Answer> {
    return asked.request('OPTIONS', path, { headers: { origin, 'access-control-request-method': method } });
  }

  it('read nothing where no origin is admitted', async () => {
    const { key } = await closed.application();
    const answer = await closed.request('GET', '/tokens', { key, headers: { origin: SHOP } });
    expect(answer.status).to.equal(200);
    expect(corsOf(answer)).to.deep.equal({});
    expect(answer.headers.has('vary')).to.equal(false);
    const asked = await preflight('/tokens', 'POST', SHOP, closed);
    expect(asked.status).to.equal(405);
    expect(corsOf(asked)).to.deep.equal({});
  });

  it('read answers where their origin is admitted, and no cache gives those to another', async () => {
    const { key } = await vault.application();
    for (const origin of [SHOP, OTHER_SHOP]) {
      const answer = await vault.request('GET', '/tokens', { key, headers: { origin } });
      expect(answer.status).to.equal(200);
      expect(corsOf(answer)).to.have.all.keys('access-control-allow-origin', 'access-control-expose-headers');
      expect(corsOf(answer)).to.include({ 'access-control-allow-origin': origin });
      expect(answer.headers.get('vary')).to.equal('Origin');
    }
  });

  it('read nothing where it is another, and are told nothing of those that are admitted', async () => {
    const { key } = await vault.application();
    for (const origin of STRANGERS) {
      const answer = await vault.request('GET', '/tokens', { key, headers: { origin } });
      expect(answer.status, origin).to.equal(200);
      expect(corsOf(answer), origin).to.deep.equal({});
      expect(answer.headers.get('vary'), origin).to.equal('Origin');
      const asked = await preflight('/tokens', 'POST', origin);
      expect(asked.status, origin).to.equal(405);
      expect(corsOf(asked), origin).to.deep.equal({});
    }
  });

  it('are no concern of requests that no page sends', async () => {
    for (const each of [vault, open]) {
      const answer = await each.request('GET', '/openapi.json');
      expect(corsOf(answer)).to.deep.equal({});
      expect(answer.headers.get('vary')).to.equal('Origin');
    }
  });

  it('all read answers where every origin is admitted, and no credentials of the browser go with them', async () => {
    const { key } = await open.application();
    for (const origin of STRANGERS) {
      const answer = await open.request('GET', '/tokens', { key, headers: { origin } });
      expect(corsOf(answer)).to.include({ 'access-control-allow-origin': '*' });
      expect(corsOf(answer)).not.to.have.property('access-control-allow-credentials');
      expect((await preflight('/tokens', 'POST', origin, open)).status).to.equal(204);
    }
  });

  it('read refusals, whoever refuses', async () => {
    const { key } = await vault.application();
    const rows = [{ name: 'one', counter: 'Key', requests: 1, windowSeconds: 3600, action: 'Throttle' }] as const;
    const limited = await vault.application({ tenantId: await vault.tenant({}, { plan: 'Custom', rows }) });
    await vault.request('GET', '/tokens', limited);
    const sent = { headers: { origin: SHOP } };
    const answers = {
      400: await vault.request('POST', '/tokens', { key, rawBody: '{', ...sent }),
      401: await vault.request('GET', '/tokens', sent),
      404: await vault.request('GET', `/tokens/${randomUUID()}`, { key, ...sent }),
      405: await vault.request('DELETE', '/tokens', { key, ...sent }),
      410: await vault.request('GET', '/reactor-formulas', { key, ...sent }),
      429: await vault.request('GET', '/tokens', { key: limited.key, ...sent }),
    };
    for (const [status, answer] of Object.entries(answers)) {
      expect(answer.status).to.equal(Number(status));
      expect(corsOf(answer), status).to.include({ 'access-control-allow-origin': SHOP });
    }
    expect((await vault.request('GET', '/nowhere', sent)).headers.get('access-control-allow-origin')).to.equal(SHOP);
  });

  it('read every header of the document that browsers do not show anyway', async () => {
    const { body } = await vault.request('GET', '/openapi.json');
    const documented = Object.keys((body as OpenApiDocument).components.headers).filter(
      (name) => !['Cache-Control', 'Content-Security-Policy'].includes(name),
    );
    expect(documented).to.include.members(['Location', 'Retry-After', 'SVC-TRACE-ID', 'SVC-IDEMPOTENT-REPLAYED']);
    for (const prefix of ['SVC', 'BT']) {
      const headers = { origin: SHOP, [`${prefix}-TRACE-ID`]: 'a' };
      const exposed = listed(await vault.request('GET', '/permissions', { headers }), 'access-control-expose-headers');
      expect(exposed).to.include.members(documented.map((name) => name.replace(/^SVC-/, `${prefix}-`)));
    }
  });

  describe('ask beforehand', () => {
    it('without a key, and learn the methods of the path and the headers under every prefix', async () => {
      const answer = await preflight('/tokens');
      expect(answer.status).to.equal(204);
      expect(answer.body).to.equal(undefined);
      expect(corsOf(answer)).to.include({
        'access-control-allow-origin': SHOP,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-max-age': '600',
      });
      expect(answer.headers.get('vary')).to.equal('Origin');
      expect(listed(answer, 'access-control-allow-headers')).to.have.members([
        ...['SVC-API-KEY', 'SVC-TRACE-ID', 'SVC-IDEMPOTENCY-KEY', 'SVC-PROXY-KEY', 'SVC-PROXY-URL'],
        ...['BT-API-KEY', 'BT-TRACE-ID', 'BT-IDEMPOTENCY-KEY', 'BT-PROXY-KEY', 'BT-PROXY-URL'],
        'Content-Type',
      ]);
    });

    for (const [path, methods] of [
      ['/tokens/abc', 'GET, HEAD, PATCH, DELETE'],
      ['/tokenize', 'POST'],
      ['/sessions', 'POST'],
      ['/proxy/any/path', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
      ['/openapi.json', 'GET, HEAD'],
    ] as const) {
      it(`what ${path} takes`, async () => {
        const answer = await preflight(path, 'DELETE');
        expect(answer.status).to.equal(204);
        expect(answer.headers.get('access-control-allow-methods')).to.equal(methods);
      });
    }

    it('for a path that there is not, so that they can read the 404', async () => {
      const answer = await preflight('/nowhere', 'GET');
      expect(answer.status).to.equal(204);
      expect(answer.headers.has('access-control-allow-methods')).to.equal(false);
      const { key } = await vault.application();
      const read = await fetchAsPage(SHOP, `${vault.baseUrl}/nowhere`, { headers: { 'SVC-API-KEY': key } });
      expect(read.status).to.equal(404);
    });

    it('and are taken for nothing else where they name no method', async () => {
      const answer = await vault.request('OPTIONS', '/tokens', { headers: { origin: SHOP } });
      expect(answer.status).to.equal(405);
      expect(answer.headers.get('access-control-allow-origin')).to.equal(SHOP);
    });

    it('and count on their address', async () => {
      const counting = await startTestVault({ corsOrigins: [SHOP], rateLimits: { ipRateLimits: true } });
      try {
        const left = [];
        for (let asked = 0; asked < 2; asked++) {
          const { headers } = await preflight('/tokens', 'POST', SHOP, counting);
          left.push(Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]));
        }
        expect(left[0]! - left[1]!).to.equal(1);
      } finally {
        await counting.stop();
      }
    });
  });

  describe('as browsers have it', () => {
    it('collect a card, read what became of it, and of a refusal why', async () => {
      const { key } = await vault.application({ type: 'public', permissions: ['token:create'] });
      const headers = { 'SVC-API-KEY': key, 'SVC-IDEMPOTENCY-KEY': randomUUID() };
      const created = await fetchAsPage(SHOP, `${vault.baseUrl}/tokens`, { method: 'POST', headers, body: CARD });
      expect(created.status).to.equal(201);
      expect(created.headers.get('location')).to.match(/^\/tokens\//);
      expect(created.headers.get('svc-trace-id')).to.be.a('string');
      const again = await fetchAsPage(SHOP, `${vault.baseUrl}/tokens`, { method: 'POST', headers, body: CARD });
      expect(again.headers.get('svc-idempotent-replayed')).to.equal('true');
      const refused = await fetchAsPage(SHOP, `${vault.baseUrl}/tokens`, { headers });
      expect(refused.status).to.equal(403);
      expect(JSON.parse(refused.text)).to.have.property('title', 'Forbidden');
    });

    it('get nothing where their origin is not admitted', async () => {
      const { key } = await vault.application();
      for (const [origin, url] of [
        ['https://evil.example', vault.baseUrl],
        [SHOP, closed.baseUrl],
      ] as const) {
        const asked = fetchAsPage(origin, `${url}/tokens`, { headers: { 'SVC-API-KEY': key } });
        const error: unknown = await asked.catch((reason: unknown) => reason);
        expect(error).to.be.an.instanceOf(CrossOriginError);
      }
    });
  });
});

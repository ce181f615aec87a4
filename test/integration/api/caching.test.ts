import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startTestVault, type Answer, type TestVault } from '../../support/vault.ts';

const ORIGIN = 'https://shop.example';
const CODE = `const { CustomHttpResponseError } = require('@tokenkeep/errors');
module.exports = async ({ args }) => { throw new CustomHttpResponseError({ status: 203, headers: args, body: 1 }); };`;

describe('what caches may keep', () => {
  let vault: TestVault;
  let key: string;

  before(async () => {
    vault = await startTestVault({ reactors: true, corsOrigins: [ORIGIN] });
    ({ key } = await vault.application());
  });
  after(() => vault.stop());

  const kept = ({ headers }: Answer): string | null => headers.get('cache-control');

  it('is no answer about tokens, keys and sessions', async () => {
    const { key: publicKey } = await vault.application({ type: 'public' });
    const created = await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 'secret' } });
    expect(created.status).to.equal(201);
    for (const answer of [
      created,
      await vault.request('GET', created.headers.get('location')!, { key }),
      await vault.request('DELETE', created.headers.get('location')!, { key }),
      await vault.request('POST', '/sessions', { key: publicKey }),
    ]) {
      expect(answer.status).to.be.below(300);
      expect(kept(answer)).to.equal('no-store');
    }
  });

  it('is no refusal', async () => {
    for (const [status, method, path, options] of [
      [400, 'POST', '/tokens', { key, rawBody: '{' }],
      [401, 'GET', '/tokens', {}],
      [404, 'GET', '/tokens/none', { key }],
      [404, 'GET', '/nowhere', {}],
      [405, 'PUT', '/tokens', {}],
      [501, 'GET', '/proxies', { key }],
    ] as const) {
      const answer = await vault.request(method, path, options);
      expect(answer.status, path).to.equal(status);
      expect(kept(answer), path).to.equal('no-store');
    }
  });

  it('is the description of the API, and nothing is said of probes', async () => {
    for (const path of ['/openapi.json', '/docs', '/healthz', '/readyz']) {
      const answer = await vault.request('GET', path);
      expect(answer.status).to.equal(200);
      expect(kept(answer), path).to.equal(null);
    }
  });

  it('is of a reactor’s own answer what the reactor says, which pages of other origins it cannot let in', async () => {
    const { key: manager } = await vault.application({ type: 'management' });
    const { body } = await vault.request('POST', '/reactors', {
      ...{ key: manager, body: { name: 'Custom', code: CODE, configuration: {} } },
    });
    const react = (args: object, origin: string) =>
      eventually(async () => {
        const path = `/reactors/${(body as { id: string }).id}/react`;
        const answer = await vault.request('POST', path, { key, body: { args }, headers: { origin } });
        expect(answer.status).to.equal(203);
        return answer;
      });
    expect(kept(await react({}, ORIGIN))).to.equal('no-store');
    const own = { 'cache-control': 'max-age=5', 'access-control-allow-origin': '*', vary: 'Accept' };
    const admitted = await react(own, ORIGIN);
    expect(kept(admitted)).to.equal('max-age=5');
    expect(admitted.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
    expect(admitted.headers.get('vary')).to.equal('Accept, Origin');
    const stranger = await react(own, 'https://evil.example');
    expect(stranger.headers.has('access-control-allow-origin')).to.equal(false);
  });
});

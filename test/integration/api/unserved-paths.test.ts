import { expect } from 'chai';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe('paths that are not served', () => {
  let vault: TestVault;
  let key: string;

  before(async () => {
    vault = await startTestVault();
    ({ key } = await vault.application());
  });
  after(() => vault.stop());

  const paths = {
    410: ['/reactor-formulas', '/reactor-formulas/d2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4', '/reactor-formulas/a/b'],
    501: [
      '/proxies',
      '/proxies/1',
      '/proxy',
      '/proxy/any/path?a=b',
      '/account-updater/jobs',
      '/account-updater/jobs/1',
    ],
  };

  for (const [status, each] of Object.entries(paths)) {
    for (const path of each) {
      it(`answer any method with ${status} and a problem: ${path}`, async () => {
        for (const method of METHODS) {
          const { status: answered, headers, body } = await vault.request(method, path, { key });
          expect(answered, method).to.equal(Number(status));
          expect(headers.get('content-type')).to.equal('application/problem+json');
          expect(body).to.include({ status: Number(status), instance: headers.get('svc-trace-id') });
        }
      });

      it(`answer 401 without a good key: ${path}`, async () => {
        for (const method of METHODS) expect((await vault.request(method, path)).status, method).to.equal(401);
      });
    }
  }

  it('name what takes the place of reactor formulas, and since when they are gone', async () => {
    const { headers, body } = await vault.request('GET', '/reactor-formulas', { key });
    expect(body.detail).to.include('/reactors').and.to.include('`code`');
    expect(headers.get('deprecation')).to.equal('@1665878400');
    expect(headers.get('sunset')).to.equal('Wed, 14 Feb 2024 00:00:00 GMT');
    expect(headers.get('link')).to.equal('</reactors>; rel="successor-version"');
  });

  it('take any body: none is looked at', async () => {
    const headers = { 'svc-idempotency-key': 'a', 'content-type': 'text/plain' };
    const { status } = await vault.request('POST', '/proxy', { key, rawBody: '{', headers });
    expect(status).to.equal(501);
  });

  for (const path of ['/proxiesx', '/reactor-formula', '/account-updaters']) {
    it(`are not those that begin alike: ${path}`, async () => {
      expect((await vault.request('GET', path, { key })).status).to.equal(404);
    });
  }

  it('are told of in the document', async () => {
    const { body } = await vault.request('GET', '/openapi.json');
    for (const path of ['/reactor-formulas', '/proxies', '/proxy', '/account-updater']) {
      expect(body.info.description).to.include(`\`${path}\``);
      expect(body.paths).not.to.have.any.keys(path);
    }
  });
});

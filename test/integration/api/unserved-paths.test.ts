import { expect } from 'chai';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe('paths that are not served', () => {
  let vault: TestVault;
  let contract: Contract;
  let key: string;

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
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
      '/proxies/%00',
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

  it('answer as the document says of what clients know there', async () => {
    for (const { method, path, operation } of contract.unservedOperations) {
      const { status } = await contract.request(method.toUpperCase(), path.replaceAll(/[{}]/g, ''), { key });
      expect(status, operation.operationId).to.equal(operation.responses['410'] === undefined ? 501 : 410);
    }
  });

  it('count as others do, and take no longer headers', async () => {
    const rows = [{ name: 'one', counter: 'Key', requests: 1, windowSeconds: 3600, action: 'Throttle' }] as const;
    const limited = await vault.application({ tenantId: await vault.tenant({}, { plan: 'Custom', rows }) });
    await vault.request('GET', '/permissions', limited);
    for (const { method, path } of contract.unservedOperations) {
      const target = path.replaceAll(/[{}]/g, '');
      const { status } = await contract.request(method.toUpperCase(), target, { key: limited.key });
      expect(status, path).to.equal(429);
      const headers = { 'x-large': 'x'.repeat(17 * 1024) };
      expect((await contract.request(method.toUpperCase(), target, { headers })).status, path).to.equal(431);
    }
  });

  it('stand at the end of the page, without calls to try', async () => {
    const { body } = await vault.request('GET', '/docs');
    const [, section = ''] = (body as string).split('id="tag-not-served"');
    const [operations = ''] = section.split('<h2 ');
    expect(operations.match(/<section /g)).to.have.length(contract.unservedOperations.length);
    expect(operations).not.to.include('curl');
    expect(operations).to.include('deprecated');
  });
});

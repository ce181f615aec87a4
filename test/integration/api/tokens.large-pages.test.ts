import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';
import { rulesFor } from '../../support/access.ts';

const TOKENS = 12;
const BYTES = 200_000;
const RULES = rulesFor({ '/': 'reveal' }, ['token:create', 'token:read', 'token:search']);

describe('pages of large tokens', function () {
  this.timeout(120_000);
  let vault: TestVault;
  let crowd: TestApplication;
  /** Newest first. */
  const ids: string[] = [];
  const dataOf = (index: number): string => `${index} é`.padEnd(BYTES, '.');

  before(async () => {
    vault = await startTestVault();
    crowd = await vault.application({ tenantId: await vault.tenant(), rules: RULES });
    for (let index = 0; index < TOKENS; index++) {
      const body = { type: 'token', data: dataOf(index), mask: { long: 'm'.repeat(index) }, metadata: { k: 'v' } };
      ids.unshift((await vault.request('POST', '/tokens', { key: crowd.key, body })).body.id as string);
    }
  });
  after(() => vault.stop());

  const pages = [
    ['GET', '/tokens?size=100'],
    ['GET', '/v2/tokens?size=100'],
    ['GET', '/tokens?metadata.k=v&size=100'],
    ['POST', '/tokens/search', { size: 100 }],
    ['POST', '/v2/tokens/search', { size: 100 }],
  ] as const;
  const send = (method: string, path: string, body?: object) =>
    vault.request(method, path, { key: crowd.key, ...(body === undefined ? {} : { body }) });

  for (const [method, path, body] of pages) {
    it(`are whole and in order, and say how long they are: ${method} ${path}`, async () => {
      const answer = await send(method, path, body);
      expect(answer.status).to.equal(200);
      const shown = answer.body.data as { id: string; data: string; mask: { long: string } }[];
      expect(shown.map(({ id }) => id)).to.deep.equal(ids);
      for (const [index, { data, mask }] of shown.toReversed().entries()) {
        expect(data === dataOf(index)).to.equal(true);
        expect(mask.long).to.have.length(index);
      }
      expect(answer.headers.get('content-type')).to.equal('application/json');
      expect(Number(answer.headers.get('content-length'))).to.be.greaterThan(TOKENS * BYTES);
    });
  }

  it('are all answered where many are asked for at once, and so is everybody else', async () => {
    const other = await vault.application({ tenantId: await vault.tenant() });
    const sent = pages.flatMap(([method, path, body]) => [1, 2, 3, 4].map(() => send(method, path, body)));
    expect(await vault.request('GET', '/v2/tokens', { key: other.key })).to.have.property('status', 200);
    for (const { status, body } of await Promise.all(sent)) {
      expect(status).to.equal(200);
      expect(body.data).to.have.length(TOKENS);
    }
  });
});

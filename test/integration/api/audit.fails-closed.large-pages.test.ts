import { expect } from 'chai';
import { rulesFor } from '../../support/access.ts';
import { createCanaryScanner } from '../../support/canary.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CANARY = 'canary-of-a-large-page';
const TOKENS = 6;
const BYTES = 1_000_000;

describe('pages of large tokens that cannot be logged', function () {
  this.timeout(120_000);
  let vault: TestVault;
  let caller: TestApplication;

  before(async () => {
    vault = await startTestVault();
    const rules = rulesFor({ '/': 'reveal' }, ['token:create', 'token:read', 'token:search']);
    caller = await vault.application({ tenantId: await vault.tenant(), rules });
    for (let index = 0; index < TOKENS; index++) {
      const body = { type: 'token', data: CANARY.padEnd(BYTES, '.'), metadata: { k: 'v' } };
      expect((await vault.request('POST', '/tokens', { key: caller.key, body })).status).to.equal(201);
    }
    await vault.database.run({ text: 'revoke insert on logs from tokenkeep_api' });
  });
  after(() => vault.stop());

  const pages = [
    ['GET', '/tokens?size=100'],
    ['GET', '/v2/tokens?size=100'],
    ['GET', '/tokens?metadata.k=v&size=100'],
    ['POST', '/tokens/search', { size: 100 }],
    ['POST', '/v2/tokens/search', { size: 100 }],
  ] as const;
  for (const [method, path, body] of pages) {
    it(`show not one byte, though they are written in pieces: ${method} ${path}`, async () => {
      const answer = await vault.request(method, path, { key: caller.key, ...(body && { body }) });
      expect(answer.status).to.equal(503);
      expect(createCanaryScanner({ CANARY }).scan(path, JSON.stringify(answer.body))).to.deep.equal([]);
    });
  }
});

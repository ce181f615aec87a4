import { expect } from 'chai';
import type { CustomRateLimit } from '../../../src/domain/rate-limit-quotas.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const CREATES: CustomRateLimit = {
  ...{ name: 'creates', resource: 'CreateTokens', counter: 'Key' },
  ...{ requests: 2, windowSeconds: 3600, action: 'Throttle' },
};
const CODE = `module.exports = async ({ svc }) => {
  try {
    await svc.tokens.create({ type: 'token', data: 'from svc' });
    return { raw: { refused: null } };
  } catch (error) {
    return { raw: { refused: error.constructor.name } };
  }
};`;

describe('rate limits of what reactors ask for', () => {
  let vault: TestVault;

  before(async () => {
    vault = await startTestVault({ reactors: true });
  });
  after(() => vault?.stop());

  it('hold for a reactor’s application over all invocations, though each has a key of its own', async () => {
    const tenantId = await vault.tenant({}, { plan: 'Custom', rows: [CREATES] });
    const { key } = await vault.application({ tenantId });
    const { key: managerKey } = await vault.application({ tenantId, type: 'management' });
    const { id } = await vault.application({ tenantId, type: 'public', permissions: ['token:create'] });
    const made = await vault.request('POST', '/reactors', {
      ...{ key: managerKey, body: { name: 'Creator', code: CODE, configuration: {}, application: { id } } },
    });
    const refused: unknown[] = [];
    for (let invocation = 0; invocation < 3; invocation++) {
      const { body } = await vault.request('POST', `/reactors/${made.body.id}/react`, { key, body: {} });
      refused.push(body.raw?.refused);
    }
    expect(refused).to.deep.equal([null, null, 'RateLimitError']);
  });
});

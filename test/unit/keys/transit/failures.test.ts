import { expect } from 'chai';
import { failureOf, VaultAway, VaultRefusal } from '../../../../src/keys/transit/failures.ts';

describe('failures of Vault', () => {
  for (const status of [301, 302, 307, 308, 412, 429, 472, 473, 500, 502, 503, 504]) {
    it(`status ${status} may pass`, () => expect(failureOf(status)).to.be.instanceOf(VaultAway));
  }
  for (const status of [400, 401, 403, 404, 405, 413]) {
    it(`status ${status} is a refusal`, () => {
      expect(failureOf(status)).to.be.instanceOf(VaultRefusal).and.to.have.property('status', status);
    });
  }
  it('tell a sealed Vault in words', () => expect(failureOf(503).message).to.include('sealed'));
});

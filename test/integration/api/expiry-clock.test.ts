import { expect } from 'chai';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const HOUR_MS = 3_600_000;

describe('an end in a body that has other faults as well', () => {
  let vault: TestVault;
  let now: number;

  before(async () => {
    now = Date.now() + 2 * HOUR_MS;
    vault = await startTestVault({ clock: { now: () => now } });
  });
  after(() => vault?.stop());

  for (const { path, type, missing } of [
    { path: '/applications', type: 'management', missing: 'name' },
    { path: '/sessions/authorize', type: 'private', missing: 'nonce' },
    { path: '/tokens', type: 'private', missing: 'data' },
  ] as const) {
    it(`is held against the clock of the vault by POST ${path}`, async () => {
      const { key } = await vault.application({ type });
      const faultsOf = async (end: number) => {
        const body = { type: 'private', permissions: ['token:read'], expires_at: new Date(end).toISOString() };
        const { status, body: problem } = await vault.request('POST', path, { key, body });
        expect(status).to.equal(400);
        return Object.keys(problem.errors);
      };
      expect(await faultsOf(now - HOUR_MS)).to.include.members([missing, 'expires_at']);
      expect(await faultsOf(now + HOUR_MS))
        .to.include(missing)
        .and.not.to.include('expires_at');
    });
  }
});

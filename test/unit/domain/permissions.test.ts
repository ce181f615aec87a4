import { expect } from 'chai';
import type { ApplicationType } from '../../../src/domain/applications.ts';
import { isPermission, mayHold, PERMISSION_NAMES } from '../../../src/domain/permissions.ts';

const HELD: Record<ApplicationType, string[]> = {
  public: ['token:create', 'token:update'],
  private: ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use'],
  management: [
    ...['application', 'reactor', 'proxy'].flatMap((resource) =>
      ['create', 'read', 'update', 'delete'].map((operation) => `${resource}:${operation}`),
    ),
    ...['log:read', 'tenant:read', 'tenant:update', 'report:read'],
    ...['account-updater:job:create', 'account-updater:job:read'],
  ],
};

describe('permissions', () => {
  for (const [type, held] of Object.entries(HELD) as [ApplicationType, string[]][]) {
    it(`of a ${type} application are exactly those of its kind of work`, () => {
      expect(PERMISSION_NAMES.filter((name) => mayHold(type, name))).to.have.members(held);
    });
  }

  it('are known by name, whole and in lower case', () => {
    expect(PERMISSION_NAMES.every(isPermission)).to.equal(true);
    for (const name of ['token', 'token:', 'TOKEN:READ', 'token:read ', 'toString', '__proto__']) {
      expect(isPermission(name), name).to.equal(false);
    }
  });
});

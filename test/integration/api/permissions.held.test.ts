import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AccessRule } from '../../../src/domain/access.ts';
import { APPLICATION_TYPES, type ApplicationType } from '../../../src/domain/applications.ts';
import type { Permission } from '../../../src/domain/permissions.ts';
import { readMatrix } from '../../support/permission-matrix/matrix.ts';
import { createTenancy, everything, type Tenancy } from '../../support/permission-matrix/tenancy.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const { permissions } = await readMatrix();

interface Access {
  permissions: Permission[];
  rules: AccessRule[];
}

describe('who may hold a permission', function () {
  this.timeout(60_000);
  let vault: TestVault;
  let tenancy: Tenancy;
  let subjects: Record<ApplicationType, string>;
  let authorizer: string;

  before(async () => {
    vault = await startTestVault();
    tenancy = await createTenancy(vault);
    const { tenantId } = tenancy;
    const ids = await Promise.all(
      APPLICATION_TYPES.map(async (type) => [type, (await vault.application({ tenantId, type })).id] as const),
    );
    subjects = Object.fromEntries(ids) as Record<ApplicationType, string>;
    const rules = [everything('reveal')];
    authorizer = (await vault.application({ tenantId, permissions: [], rules })).key;
  });
  after(() => vault.stop());

  async function statusOf(method: string, path: string, body: object, key = tenancy.keys.management): Promise<number> {
    return (await vault.request(method, path, { key, body })).status;
  }

  /** The statuses of every way to give an application this access. */
  async function given(type: ApplicationType, access: Access): Promise<Record<string, number>> {
    const declaration = { name: 'Declared', type, keys: [], ...access };
    const path = `/tenants/${tenancy.tenantId}/applications/${randomUUID()}`;
    return {
      created: await statusOf('POST', '/applications', { name: 'Created', type, ...access }),
      updated: await statusOf('PUT', `/applications/${subjects[type]}`, { name: 'Updated', ...access }),
      declared: (await vault.internal('PUT', path, declaration)).status,
    };
  }

  /** Asks a public application for a session and grants it the access. */
  async function authorized(access: Access): Promise<number> {
    const { body } = await vault.request('POST', '/sessions', { key: tenancy.keys.public });
    return statusOf('POST', '/sessions/authorize', { nonce: body.nonce, ...access }, authorizer);
  }

  const GIVEN = { created: 201, updated: 200, declared: 200 };
  const REFUSED = { created: 400, updated: 400, declared: 400 };

  for (const row of permissions) {
    const permission = row['Permission'] as Permission;
    const plain: Access = { permissions: [permission], rules: [] };
    const byRule: Access = { permissions: [], rules: [{ ...everything('mask'), permissions: [permission] }] };

    it(permission, async () => {
      for (const type of APPLICATION_TYPES) {
        const mayHold = row[type] === 'yes';
        expect(await given(type, plain), `${type}, plainly`).to.deep.equal(mayHold ? GIVEN : REFUSED);
        // Rules are about tokens.
        const byRules = mayHold && type !== 'management' ? GIVEN : REFUSED;
        expect(await given(type, byRule), `${type}, by a rule`).to.deep.equal(byRules);
      }
      const session = row['session'] === 'yes' ? 200 : 400;
      expect(await authorized(byRule), 'session, by a rule').to.equal(session);
    });
  }
});

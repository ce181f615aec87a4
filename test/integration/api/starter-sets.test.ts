import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { APPLICATION_TYPES } from '../../../src/domain/applications.ts';
import { APPLICATION_TEMPLATES } from '../../../src/domain/application-templates.ts';
import { mayHold, PERMISSION_NAMES } from '../../../src/domain/permissions.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

interface Template {
  id: string;
  name: string;
  application_type: string;
  permissions: string[];
  rules: object[];
}

describe('what helps to make applications', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;
  let visitor: TestApplication;

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
    manager = await vault.application({ type: 'management' });
    visitor = await vault.application({ type: 'public', permissions: ['token:create'] });
  });
  after(() => vault.stop());

  const get = (path: string, key = visitor.key) => contract.request('GET', path, { key });

  describe('the list of permissions', () => {
    it('is all of them, with what they allow and who may hold them', async () => {
      const { status, body } = await get('/permissions');
      expect(status).to.equal(200);
      expect(body.map(({ type }: { type: string }) => type)).to.deep.equal(PERMISSION_NAMES);
      expect(body[0]).to.deep.equal({
        type: 'token:create',
        description: 'Create tokens',
        application_types: ['public', 'private'],
      });
    });

    for (const type of APPLICATION_TYPES) {
      it(`is those that a ${type} application may hold, where asked for`, async () => {
        const { body } = await get(`/permissions?application_type=${type}`);
        const names = body.map((permission: { type: string }) => permission.type);
        expect(names).to.deep.equal(PERMISSION_NAMES.filter((name) => mayHold(type, name)));
      });
    }

    it('is that of the first type where several are asked for', async () => {
      const { body } = await get('/permissions?application_type=public&application_type=management');
      expect(body.map(({ type }: { type: string }) => type)).to.deep.equal(['token:create', 'token:update']);
    });

    for (const type of ['session', '', 'PRIVATE']) {
      it(`is refused for '${type}', which is no type of application`, async () => {
        const { status, body } = await get(`/permissions?application_type=${type}`);
        expect(status).to.equal(400);
        expect(body.errors).to.have.all.keys('application_type');
      });
    }

    it('is for any good key, and for no other', async () => {
      expect((await get('/permissions', manager.key)).status).to.equal(200);
      expect((await contract.request('GET', '/permissions')).status).to.equal(401);
    });
  });

  describe('the application templates', () => {
    it('have ids that stay, names of their own, and every type of application among them', async () => {
      const { status, body } = await get('/application-templates');
      const templates = body as Template[];
      expect(status).to.equal(200);
      expect(templates.map(({ id }) => id)).to.deep.equal(APPLICATION_TEMPLATES.map(({ id }) => id));
      expect(new Set(templates.map(({ name }) => name))).to.have.property('size', templates.length);
      expect(new Set(templates.map((template) => template.application_type))).to.have.all.keys(APPLICATION_TYPES);
      for (const template of templates) {
        expect(template).to.include({ template_type: 'official', is_starter: true });
      }
    });

    it('are found by id', async () => {
      const { body: templates } = await get('/application-templates');
      for (const template of templates as Template[]) {
        const { status, body } = await get(`/application-templates/${template.id}`);
        expect([status, body]).to.deep.equal([200, template]);
      }
    });

    for (const id of [randomUUID(), 'no-uuid']) {
      it(`are not found under ${id === 'no-uuid' ? 'what is no id' : 'an unknown id'}`, async () => {
        expect((await get(`/application-templates/${id}`)).status).to.equal(404);
      });
    }

    for (const { id, name } of APPLICATION_TEMPLATES) {
      it(`make an application: ${name}`, async () => {
        const { body: template } = await get(`/application-templates/${id}`);
        const { application_type: type, permissions, rules } = template as Template;
        const { status, body } = await contract.request('POST', '/applications', {
          key: manager.key,
          body: { name, type, permissions, rules },
        });
        expect(status).to.equal(201);
        expect(body).to.deep.include({ type, permissions, rules });
      });
    }

    it('are for any good key, and for no other', async () => {
      expect((await get('/application-templates', manager.key)).status).to.equal(200);
      expect((await contract.request('GET', '/application-templates')).status).to.equal(401);
    });
  });
});

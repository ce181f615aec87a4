import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDocument } from '../../../src/api/openapi/document.ts';
import { declaredRoutes } from '../../support/declared-routes.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

describe('the OpenAPI document', () => {
  let vault: TestVault;
  let contract: Contract;

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
  });
  after(() => vault.stop());

  it('is that of every route that is declared', async () => {
    const declared = createDocument(await declaredRoutes(), { version: '0.0.0-test', headerPrefix: 'SVC' });
    const { paths, ...rest } = JSON.parse(JSON.stringify(declared)) as Contract['document'];
    expect(Object.keys(contract.document.paths)).to.have.members(Object.keys(paths));
    for (const [path, operations] of Object.entries(paths)) {
      expect(contract.document.paths[path], path).to.deep.equal(operations);
    }
    expect(contract.document.info).to.deep.equal({ ...rest.info, version: '0.0.0-test' });
    expect(contract.document.components.securitySchemes).to.have.nested.property('applicationKey.name', 'SVC-API-KEY');
  });

  it('has an operation for every path that it documents, and each refuses a request without a key', async () => {
    for (const { method, path } of contract.operations) {
      const target = path.replaceAll(/\{\w+\}/g, randomUUID());
      const answer = await contract.request(method.toUpperCase(), target, { body: method === 'get' ? undefined : {} });
      expect(answer.status, `${method} ${path}`).to.equal(401);
    }
  });

  it('has what needs no key, and it needs none', async () => {
    for (const { method, path } of contract.serviceOperations) {
      const { status } = await contract.request(method.toUpperCase(), path);
      expect(status, path).to.equal(200);
    }
  });

  it('documents every route: what it does not name is not there', async () => {
    const all = [...contract.operations, ...contract.serviceOperations];
    const documented = new Set(all.map(({ method, path }) => `${method} ${path}`));
    for (const path of Object.keys(contract.document.paths)) {
      for (const method of METHODS.filter((name) => !documented.has(`${name} ${path}`))) {
        const target = path.replaceAll(/\{\w+\}/g, randomUUID());
        const { status, headers } = await vault.request(method.toUpperCase(), target);
        // `key` and `entity-types` are also ids to the routes beside them.
        if (status === 401) continue;
        expect(status, `${method} ${path}`).to.equal(405);
        expect(headers.get('allow'), `${method} ${path}`).to.match(/^[A-Z]+(, [A-Z]+)*$/);
      }
    }
  });

  describe('as a page', () => {
    let page: string;
    let policy: string | null;

    before(async () => {
      const { body, headers } = await contract.request('GET', '/docs');
      page = body as string;
      policy = headers.get('content-security-policy');
    });

    it('shows every operation', () => {
      for (const { path, operation } of [...contract.operations, ...contract.serviceOperations]) {
        expect(page).to.include(`<section id="${operation.operationId}"`);
        expect(page).to.include(`<code>${path}</code>`);
      }
    });

    it('shows every schema that has a name, and leads to nothing that is not on it', () => {
      for (const name of Object.keys(contract.document.components.schemas))
        expect(page).to.include(`id="schema-${name}"`);
      const ids = new Set([...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
      for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids, target).to.include(target);
    });

    it('runs no script and fetches nothing from elsewhere', () => {
      expect(page).not.to.match(/<script|<iframe|<img|<link|javascript:|\son\w+=/i);
      expect(page).not.to.match(/(?:href|src|url\()\s*=?\s*["']?(?:https?:)?\/\//i);
      expect(policy).to.match(/^default-src 'none'/);
    });

    it('shows what stands for itself as text', () => {
      expect(page).to.include('metadata.&lt;key&gt;');
    });
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PERMISSION_NAMES } from '../../../src/domain/permissions.ts';
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

  it('is OpenAPI 3.1 with a title, a version and one security scheme that everything needs', () => {
    const { document } = contract;
    expect(document.openapi).to.match(/^3\.1\.\d+$/);
    expect(document.info).to.include.keys('title', 'version');
    expect(document.security).to.deep.equal([{ applicationKey: [] }]);
    expect(document.components.securitySchemes).to.deep.equal({
      applicationKey: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' },
    });
  });

  it('names each operation once, under a tag that it lists', () => {
    const ids = contract.operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids)).to.have.property('size', ids.length);
    const tags = contract.document.tags.map(({ name }) => name);
    for (const { operation, method } of contract.operations) {
      expect(METHODS).to.include(method);
      expect(tags).to.include.members(operation.tags);
      expect(operation.summary).not.to.equal('');
    }
  });

  it('declares every part of a path as a required parameter, and no other', () => {
    for (const { path, operation } of contract.operations) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(
        declared.map(({ name }) => name),
        path,
      ).to.have.members(inPath);
      expect(
        declared.every(({ required }) => required),
        path,
      ).to.equal(true);
    }
  });

  it('refers to nothing that is not in it', () => {
    const references = [...JSON.stringify(contract.document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
    expect(references).not.to.have.length(0);
    expect(new Set(references)).to.deep.equal(new Set(['#/components/schemas/Problem']));
    expect(contract.document.components.schemas).to.have.all.keys('Problem');
  });

  it('has only schemas that are JSON Schema, each with examples that it accepts', () => {
    for (const { method, path, operation } of contract.operations) {
      for (const content of Object.values(operation.requestBody?.content ?? {})) {
        expect(contract.faultOf(content.schema, content.example), `${method} ${path}`).to.equal(undefined);
      }
      for (const { content = {} } of Object.values(operation.responses)) {
        for (const { schema } of Object.values(content)) contract.faultOf(schema, null);
      }
      for (const { schema } of operation.parameters ?? []) contract.faultOf(schema, null);
    }
  });

  it('gives every operation a success, the refusal of a bad key, and problems as bodies of its failures', () => {
    for (const { method, path, operation } of contract.operations) {
      const statuses = Object.keys(operation.responses);
      expect(
        statuses.some((status) => status.startsWith('2')),
        `${method} ${path}`,
      ).to.equal(true);
      expect(statuses).to.include('401');
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        expect(description, `${method} ${path} ${status}`).not.to.equal('');
        if (Number(status) >= 400) expect(content).to.have.all.keys('application/problem+json');
      }
    }
  });

  it('has an operation for every path that it documents, and each refuses a request without a key', async () => {
    for (const { method, path } of contract.operations) {
      const target = path.replaceAll(/\{\w+\}/g, randomUUID());
      const answer = await vault.request(method.toUpperCase(), target, { body: method === 'get' ? undefined : {} });
      contract.check(method, target, answer);
      expect(answer.status, `${method} ${path}`).to.equal(401);
    }
  });

  it('documents every route: what it does not name is not there', async () => {
    const documented = new Set(contract.operations.map(({ method, path }) => `${method} ${path}`));
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

  it('names permissions that there are', () => {
    const named = [...JSON.stringify(contract.document).matchAll(/Permission: `([^`]+)`/g)].map((match) => match[1]);
    expect(named).not.to.have.length(0);
    expect(PERMISSION_NAMES).to.include.members(named);
  });

  describe('as a page', () => {
    let page: string;
    let policy: string | null;

    before(async () => {
      const { body, headers } = await vault.request('GET', '/docs');
      page = body as string;
      policy = headers.get('content-security-policy');
    });

    it('shows every operation', () => {
      for (const { path, operation } of contract.operations) {
        expect(page).to.include(`<section id="${operation.operationId}">`);
        expect(page).to.include(`<code>${path}</code>`);
      }
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

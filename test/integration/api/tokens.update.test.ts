import { expect } from 'chai';
import type { AccessRule } from '../../../src/domain/access.ts';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const NUMBER = '4242424242424242';

describe('updating tokens', () => {
  let vault: TestVault;
  let tenantId: string;
  let application: TestApplication;
  let id: string;
  const create = async (body: object) => {
    const answer = await vault.request('POST', '/tokens', { key: application.key, body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const patch = (body: object, { key } = application, headers: Record<string, string> = {}) =>
    vault.request('PATCH', `/tokens/${id}`, { key, body, headers });
  const read = async () => (await vault.request('GET', `/tokens/${id}`, { key: application.key })).body;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId, rules: rulesFor({ '/': 'reveal' }) });
    const body = { type: 'token', data: { a: 1, b: { c: 2, d: 3 } }, metadata: { k: 'v', l: 'w' }, mask: { x: 'y' } };
    ({ id } = await create({ ...body, search_indexes: ['{{ data.a }}'] }));
  });

  it('merges data, mask and metadata', async () => {
    const { status, body } = await patch({
      data: { b: { c: null, e: 4 } },
      mask: { z: '{{ data.a }}' },
      metadata: { k: null, m: 'x' },
    });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ data: { a: 1, b: { d: 3, e: 4 } }, metadata: { l: 'w', m: 'x' } });
    expect(body.mask).to.deep.equal({ x: 'y', z: '{{ data.a }}' });
    expect(body).to.include({ modified_by: application.id });
    expect(await read()).to.deep.equal(body);
  });

  it('replaces what is no object, and all metadata by null', async () => {
    const { body } = await patch({ data: [1], mask: null, metadata: null, search_indexes: null });
    expect(body).to.deep.include({ data: [1], metadata: {} });
    expect(body).not.to.have.any.keys('mask', 'search_indexes');
  });

  it('replaces containers, search indexes, fingerprint expression and expiry', async () => {
    const { fingerprint } = await read();
    const changes = {
      ...{ containers: ['/Moved/'], search_indexes: ['{{ data.b.c }}', '{{ data.b.d }}'] },
      ...{ fingerprint_expression: '{{ data.a }}', expires_at: '2099-01-01' },
    };
    const { body } = await patch(changes);
    expect(body).to.deep.include({ ...changes, containers: ['/moved/'], expires_at: '2099-01-01T00:00:00.000Z' });
    expect(body.fingerprint).not.to.equal(fingerprint);
    const hashes = await vault.database.run({ text: 'select from token_search_hashes where token_id = $1' }, [id]);
    expect(hashes).to.have.length(2);
    expect((await patch({ expires_at: null })).body).not.to.have.property('expires_at');
    expect((await patch({ fingerprint_expression: null })).body.fingerprint).to.equal(fingerprint);
  });

  it('leaves everything as it is for an empty patch', async () => {
    const before = await read();
    const { body } = await patch({});
    expect({ ...body, modified_at: undefined, modified_by: undefined }).to.deep.equal({
      ...{ ...before, modified_at: undefined, modified_by: undefined },
    });
  });

  for (const contentType of [
    'application/json',
    'application/json-patch+json',
    'text/plain',
    'application/merge-patch',
  ]) {
    it(`is 415 with ${contentType}`, async () => {
      const answer = await patch({ metadata: { k: 'changed' } }, application, { 'content-type': contentType });
      expect(answer.status).to.equal(415);
      expect((await read()).metadata.k).to.equal('v');
    });
  }

  it('takes the content type in any letter case and with parameters', async () => {
    const headers = { 'content-type': 'Application/Merge-Patch+JSON; charset=utf-8' };
    expect(await patch({}, application, headers)).to.have.property('status', 200);
  });

  it('validates as creating does, reporting all together and changing nothing', async () => {
    ({ id } = await create({ type: 'card', data: { number: NUMBER } }));
    const { status, body } = await patch({
      data: { number: '4242424242424241', expiration_month: 13 },
      metadata: { ['k'.repeat(51)]: 'v' },
      containers: ['nowhere'],
      search_indexes: ['{{ data | nope }}'],
      expires_at: '2000-01-01',
    });
    expect(status).to.equal(400);
    expect(Object.keys(body.errors)).to.have.members([
      ...['data.number', 'data.expiration_month', 'metadata', 'containers[0]', 'search_indexes[0]', 'expires_at'],
    ]);
    expect(JSON.stringify(body)).not.to.contain('42424242');
    expect(await read()).to.not.have.property('modified_at');
  });

  it('reports faults of the form and of what it would replace together', async () => {
    const { body } = await patch({ metadata: { k: 1 }, containers: ['nowhere'], deduplicate_token: 'yes' });
    expect(Object.keys(body.errors)).to.have.members(['metadata.k', 'containers[0]', 'deduplicate_token']);
  });

  for (const [name, body, path] of [
    ['data that becomes null', { data: null }, 'data'],
    [
      'more than 50 entries of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`n${i}`, 'v'])) },
      'metadata',
    ],
    ['an index that has no value any more', { data: { a: null } }, 'search_indexes[0]'],
    ['two containers', { containers: ['/a/', '/b/'] }, 'containers'],
  ] as const) {
    it(`refuses ${name}`, async () => {
      const answer = await patch(body);
      expect(answer.status).to.equal(400);
      expect(Object.keys(answer.body.errors)).to.deep.equal([path]);
    });
  }

  it('cannot change id, type, owner or times', async () => {
    const before = await read();
    const { body } = await patch({ id: 'other', type: 'card', tenant_id: 'x', created_at: 'x', created_by: 'x' });
    const { type, tenant_id, created_at, created_by } = before;
    expect(body).to.include({ id, type, tenant_id, created_at, created_by });
  });

  it('shows data as the grant of token:update says', async () => {
    const masking = await vault.application({ tenantId, permissions: ['token:update'] });
    expect((await patch({}, masking)).body.data).to.deep.equal({ x: 'y' });
    const redacting = await vault.application({ tenantId, rules: rulesFor({ '/': 'redact' }, ['token:update']) });
    expect((await patch({}, redacting)).body).not.to.have.property('data');
  });

  it('lets nobody who may not read the token see it through a mask of their own', async () => {
    const writer = await vault.application({ tenantId, type: 'public', permissions: ['token:update'] });
    const { status, body } = await patch({ mask: { opened: '{{ data.b }}' } }, writer);
    expect(status).to.equal(200);
    expect(body).not.to.have.property('data');
    const reader = await vault.application({ tenantId, permissions: ['token:update', 'token:read'] });
    expect((await patch({ mask: { opened: '{{ data.b.c }}' } }, reader)).body.data).to.deep.include({ opened: 2 });
  });

  it('takes the permission on both containers to move a token', async () => {
    const rules = (...containers: string[]): AccessRule[] =>
      rulesFor(Object.fromEntries(containers.map((container) => [container, 'mask'])), ['token:update']);
    const from = await vault.application({ tenantId, rules: rules('/general/') });
    const to = await vault.application({ tenantId, rules: rules('/moved/') });
    const both = await vault.application({ tenantId, rules: rules('/general/', '/moved/') });
    for (const mover of [from, to]) {
      expect(await patch({ containers: ['/moved/'] }, mover)).to.have.property('status', 403);
      expect((await read()).containers).to.deep.equal(['/general/high/']);
    }
    expect((await patch({ containers: ['/moved/'] }, both)).body.containers).to.deep.equal(['/moved/']);
  });

  describe('where it makes a duplicate', () => {
    beforeEach(async () => {
      await create({ type: 'card', data: { number: NUMBER }, containers: ['/hidden/'] });
      ({ id } = await create({ type: 'card', data: { number: '5555555555554444' }, metadata: { k: 'v' } }));
    });
    const change = { data: { number: NUMBER }, deduplicate_token: true };

    it('hides what was put into it from a caller who may not read the other', async () => {
      const rules = rulesFor({ '/pci/': 'reveal' });
      const { status, body } = await patch(change, await vault.application({ tenantId, rules }));
      expect(status).to.equal(200);
      expect(body).not.to.have.any.keys('data', 'metadata', 'fingerprint_expression', 'search_indexes', 'mask');
      expect(body).to.include.all.keys('id', 'type', 'fingerprint', 'containers', 'created_at', 'modified_at');
      expect((await read()).data).to.deep.equal({ number: NUMBER });
    });

    it('shows it to a caller who may read both', async () => {
      expect((await patch(change)).body).to.deep.include({ data: { number: NUMBER }, metadata: { k: 'v' } });
    });
  });

  it('applies every one of many patches at the same time', async () => {
    const COUNT = 50;
    const answers = await Promise.all(
      Array.from({ length: COUNT }, (_, index) => patch({ data: { [`n${index}`]: 'set' } })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(COUNT).fill(200));
    expect(Object.values((await read()).data as object).filter((value) => value === 'set')).to.have.length(COUNT);
    const updates = await vault.database.run(
      { text: "select from logs where entity_id = $1 and operation = 'update'" },
      [id],
    );
    expect(updates).to.have.length(COUNT);
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

interface Entry {
  id: string;
  entity_id: string;
  entity_type: string;
  operation: string;
  created_at: string;
}

describe('logs over the API', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    contract = await readContract(vault);
  });
  after(() => vault.stop());
  beforeEach(async () => {
    manager = await vault.application({ type: 'management', tenantId: await vault.tenant() });
  });

  const send = (method: string, path: string, body?: object) =>
    contract.request(method, path, { key: manager.key, ...(body ? { body } : {}) });

  async function logs(query: string): Promise<Entry[]> {
    const { status, body } = await send('GET', `/logs?${query}`);
    expect(status).to.equal(200);
    return body.data as Entry[];
  }

  /** What was done to an entity, first to last. */
  async function operationsOn(id: string, type: string): Promise<string[]> {
    const entries = await logs(`entity_id=${id}&entity_type=${type}`);
    return entries.map(({ operation }) => operation).reverse();
  }

  it('tell every operation on an application and its keys, by whom', async () => {
    const { body } = await send('POST', '/applications', {
      ...{ name: 'Checkout', type: 'private', permissions: ['token:create'] },
    });
    const path = `/applications/${body.id}`;
    await send('GET', path);
    await send('GET', `/applications?id=${body.id}`);
    await send('PUT', path, { name: 'x', permissions: ['token:read'] });
    const { body: key } = await send('POST', `${path}/keys`);
    await send('GET', `${path}/keys/${key.id}`);
    await send('GET', `${path}/keys`);
    await send('DELETE', `${path}/keys/${key.id}`);
    await send('DELETE', path);
    expect(await operationsOn(body.id as string, 'application')).to.deep.equal([
      ...['create', 'read', 'read', 'update', 'delete'],
    ]);
    expect(await operationsOn(key.id as string, 'application_key')).to.deep.equal(['create', 'read', 'read', 'delete']);
    const [first] = await logs(`entity_id=${body.keys[0].id}`);
    expect(first).to.deep.include({ entity_type: 'application_key', actor_id: manager.id, actor_type: 'application' });
    expect(first, 'a key that went with its application').to.include({ operation: 'delete' });
  });

  it('tell every operation on a reactor', async () => {
    const reactor = { name: 'x', code: 'module.exports = () => ({});', configuration: {} };
    const { body } = await send('POST', '/reactors', reactor);
    const path = `/reactors/${body.id}`;
    await send('GET', path);
    await send('GET', '/reactors');
    await send('PUT', path, { ...reactor, name: 'y' });
    await send('PATCH', path, { name: 'z' });
    await send('DELETE', path);
    expect(await operationsOn(body.id as string, 'reactor')).to.deep.equal([
      ...['create', 'read', 'read', 'update', 'update', 'delete'],
    ]);
  });

  it('can be paged through by number, counted from a cursor where one is given, up to an empty page', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await send('POST', '/applications', { name, type: 'private', permissions: ['token:read'], create_key: false });
    }
    const all = (await logs('size=100')).map(({ id }) => id);
    const paged: string[][] = [];
    for (const page of [1, 2, 3, 4, 5]) paged.push((await logs(`page=${page}&size=2`)).map(({ id }) => id));
    expect(paged).to.deep.equal([0, 2, 4, 6, 8].map((from) => all.slice(from, from + 2)));
    expect(paged.at(-1)).to.deep.equal([]);

    const { body: first } = await send('GET', '/logs?size=1');
    const rest = await logs(`start=${first.pagination.next}&page=2&size=2`);
    expect(rest.map(({ id }) => id)).to.deep.equal(all.slice(3, 5));
    for (const page of ['0', '-1', '1.5', 'x', '10001']) {
      expect((await send('GET', `/logs?page=${page}`)).body.errors, page).to.have.all.keys('page');
    }
  });

  it('tell nothing of what was refused', async () => {
    const { body } = await send('POST', '/applications', { name: 'x', type: 'private', permissions: ['token:read'] });
    await send('PUT', `/applications/${body.id}`, { name: 'x', permissions: ['nope'] });
    await send('DELETE', `/applications/${randomUUID()}`);
    expect(await operationsOn(body.id as string, 'application')).to.deep.equal(['create']);
    expect((await logs('entity_type=application')).filter(({ operation }) => operation === 'delete')).to.deep.equal([]);
  });

  it('name what the control plane did as its doing', async () => {
    const [entry] = await logs(`entity_id=${manager.id}`);
    expect(entry).to.include({ operation: 'create', actor_type: 'operator' }).and.not.to.have.property('actor_id');
  });

  it('are followed by cursors, newest first, each entry once', async () => {
    for (let index = 0; index < 3; index++) await send('GET', `/applications/${manager.id}`);
    const all = await logs('size=100');
    const paged: Entry[] = [];
    let start = '';
    do {
      const { body } = await send('GET', `/logs?size=2${start && `&start=${start}`}`);
      expect(body.pagination.page_size).to.equal(2);
      paged.push(...(body.data as Entry[]));
      start = (body.pagination.next as string | undefined) ?? '';
      // What is written meanwhile is newer than every cursor.
      await send('GET', `/applications/${manager.id}`);
    } while (start !== '');
    expect(paged.map(({ id }) => id)).to.deep.equal(all.map(({ id }) => id));
    const times = paged.map(({ created_at }) => created_at);
    expect(times).to.deep.equal([...times].sort().reverse());
  });

  it('are narrowed by time: from the start on, to before the end', async () => {
    for (let index = 0; index < 3; index++) await send('GET', `/applications/${manager.id}`);
    const reads = await logs(`entity_id=${manager.id}`);
    const { created_at: middle } = reads[1]!;
    const within = async (query: string) => (await logs(`entity_id=${manager.id}&${query}`)).map(({ id }) => id);
    expect(await within(`start_date=${middle}`)).to.deep.equal(
      reads.filter(({ created_at }) => created_at >= middle).map(({ id }) => id),
    );
    expect(await within(`end_date=${middle}`)).to.deep.equal(
      reads.filter(({ created_at }) => created_at < middle).map(({ id }) => id),
    );
    expect(await within(`start_date=${middle}&end_date=${middle}`)).to.deep.equal([]);
  });

  it('are shown as far back as the log retention of the tenant reaches', async () => {
    const tenantId = await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, logRetentionSeconds: 3_600 } });
    const reader = await vault.application({ type: 'management', tenantId });
    const old = new Date(Date.now() - 3_600_000);
    await vault.database.run({ text: 'update logs set created_at = $2 where entity_id = $1' }, [reader.id, old]);
    const { body } = await contract.request('GET', '/logs', { key: reader.key });
    const types = (body.data as Entry[]).map(({ entity_type }) => entity_type);
    expect(types).to.include('tenant').and.not.to.include('application');
  });

  it('are those of the tenant alone', async () => {
    const stranger = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    const { body } = await contract.request('GET', `/logs?entity_id=${manager.id}`, { key: stranger.key });
    expect(body.data).to.deep.equal([]);
  });

  for (const [what, query, path] of [
    ['an unknown entity type', 'entity_type=nothing', 'entity_type'],
    ['a date that is none', 'start_date=yesterday', 'start_date'],
    ['a day that there is not', 'end_date=2026-02-30', 'end_date'],
    ['a size of 0', 'size=0', 'size'],
    ['a size of 101', 'size=101', 'size'],
    ['a cursor of somebody’s own making', 'start=AAAA', 'start'],
    ['a NUL character', 'entity_id=%00', 'entity_id'],
  ] as const) {
    it(`are refused for ${what}`, async () => {
      const { status, body } = await send('GET', `/logs?${query}`);
      expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, [path]]);
    });
  }

  it('refuse a cursor that was altered, and that of another tenant', async () => {
    await send('GET', `/applications/${manager.id}`);
    const { body } = await send('GET', '/logs?size=1');
    const next = body.pagination.next as string;
    const altered = next.slice(0, -2) + (next.at(-2) === 'A' ? 'B' : 'A') + next.at(-1)!;
    expect((await send('GET', `/logs?start=${altered}`)).status).to.equal(400);
    const stranger = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    expect((await contract.request('GET', `/logs?start=${next}`, { key: stranger.key })).status).to.equal(400);
    expect((await send('GET', `/logs?start=${next}`)).status).to.equal(200);
  });

  it('have entity types with names for people', async () => {
    const { status, body } = await send('GET', '/logs/entity-types');
    expect(status).to.equal(200);
    expect(body).to.deep.include.members([
      { display_name: 'Card', value: 'card' },
      { display_name: 'Application key', value: 'application_key' },
    ]);
    expect((body as { value: string }[]).map(({ value }) => value)).to.include.members([
      ...['token', 'card', 'bank', 'application', 'application_key', 'reactor', 'tenant'],
    ]);
  });

  it('are for those with log:read', async () => {
    const { key } = await vault.application();
    expect((await contract.request('GET', '/logs', { key })).status).to.equal(403);
    expect((await contract.request('GET', '/logs/entity-types', { key })).status).to.equal(403);
  });
});

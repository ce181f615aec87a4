import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startReplica } from '../../support/replica.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('searches while tokens are written', () => {
  let vault: TestVault;
  let tenantId: string;
  let application: TestApplication;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId });
  });

  async function send(method: string, path: string, body?: object): Promise<Answer> {
    return vault.request(method, path, { key: application.key, ...(body === undefined ? {} : { body }) });
  }
  async function create(overrides: object = {}): Promise<string> {
    const body = { type: 'token', data: 'value', search_indexes: ['{{ data }}'], ...overrides };
    return (await send('POST', '/tokens', body)).body.id as string;
  }
  async function found(query: string, body: object = {}): Promise<string[]> {
    const answer = await send('POST', '/tokens/search', { query, ...body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return (answer.body.data as { id: string }[]).map(({ id }) => id);
  }

  async function follow(query: string, size: number, between: () => Promise<unknown> = async () => undefined) {
    const ids: string[] = [];
    let start: string | undefined;
    do {
      const { body } = await send('POST', '/v2/tokens/search', {
        query,
        size,
        ...(start === undefined ? {} : { start }),
      });
      ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
      start = body.pagination.next as string | undefined;
      await between();
    } while (start !== undefined);
    return ids;
  }

  it('are in pages with totals, newest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.unshift(await create());
    await create({ data: 'other' });
    const listed = (await found('')).filter((id) => ids.includes(id));
    const pages = await Promise.all([1, 2, 3, 4].map((page) => found('data:value', { page, size: 2 })));
    expect(pages.map(({ length }) => length)).to.deep.equal([2, 2, 1, 0]);
    expect(pages.flat()).to.deep.equal(listed);
    const { body } = await send('POST', '/tokens/search', { query: 'data:value', page: 9, size: 2 });
    expect(body.pagination).to.deep.equal({ total_items: 5, page_number: 9, page_size: 2, total_pages: 3 });
    const { body: far } = await send('POST', '/tokens/search', { query: 'data:value', page: 1_000_000, size: 100 });
    expect(far).to.deep.include({ data: [] });
    expect(far.pagination.total_items).to.equal(5);
  });

  it('give every token once by cursor, those of one millisecond too', async () => {
    const payload = Array.from({ length: 5 }, (_, index) => ({
      type: 'token',
      data: `${index}`,
      search_indexes: ['x'],
    }));
    const { body } = await send('POST', '/tokenize', payload);
    const ids = (body as { id: string }[]).map(({ id }) => id);
    for (const query of ['data:x', 'data:x OR data:y', '']) {
      expect(await follow(query, 1), query).to.have.members(ids);
      expect(await follow(query, 2), query).to.deep.equal(await found(query));
      expect(await follow(query, 5), query).to.have.length(5);
    }
  });

  it('neither repeat nor miss a token while others come and go', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count++) ids.unshift(await create());
    const doomed = await create();
    const seen = await follow('data:value OR type:card', 2, async () => {
      await create();
      await send('DELETE', `/tokens/${doomed}`);
    });
    expect(seen.filter((id) => ids.includes(id))).to.have.length(6);
    expect(new Set(seen).size).to.equal(seen.length);
  });

  it('refuse a cursor of another query, tenant or list, or one that was altered', async () => {
    for (let count = 0; count < 2; count++) await create();
    const { body } = await send('POST', '/v2/tokens/search', { query: 'data:value', size: 1 });
    const start = body.pagination.next as string;
    const stranger = await vault.application({ tenantId: await vault.tenant() });
    const altered = start.slice(0, -2) + (start.endsWith('AA') ? 'BB' : 'AA');
    for (const [key, refused] of [
      [application.key, { query: 'type:token', start }],
      [application.key, { start }],
      [application.key, { query: 'data:value', start: altered }],
      [application.key, { query: 'data:value', start: 'x' }],
      [stranger.key, { query: 'data:value', start }],
    ] as const) {
      const answer = await vault.request('POST', '/v2/tokens/search', { key, body: refused });
      expect(answer.status, JSON.stringify(refused)).to.equal(400);
      expect(answer.body.errors).to.have.all.keys('start');
    }
    expect(await send('GET', `/v2/tokens?start=${start}`)).to.have.property('status', 400);
    expect((await send('POST', '/v2/tokens/search', { query: 'data:value', start })).body.data).to.have.length(1);
  });

  it('find every write at once, through another replica too', async () => {
    const replica = await startReplica(vault);
    try {
      const elsewhere = async (query: string) => {
        const answer = await fetch(`${replica.baseUrl}/tokens/search`, {
          method: 'POST',
          headers: { 'svc-api-key': application.key, 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        });
        const { data } = (await answer.json()) as { data: { id: string }[] };
        return data.map(({ id }) => id);
      };
      for (let count = 0; count < 10; count++) {
        const value = randomUUID();
        const id = await create({ data: value });
        expect(await elsewhere(`data:${value}`)).to.deep.equal([id]);
        expect(await found(`data:${value}`)).to.deep.equal([id]);
        await send('DELETE', `/tokens/${id}`);
        expect(await elsewhere(`data:${value}`)).to.deep.equal([]);
      }
    } finally {
      await replica.stop();
    }
  });

  it('follow an update of data, of search indexes, of metadata and of the container', async () => {
    const id = await create({ metadata: { k: 'old' }, containers: ['/old/'] });
    const patch = (body: object) => send('PATCH', `/tokens/${id}`, body);
    const changes = [
      [{ data: 'new' }, 'data:new', 'data:value'],
      [{ search_indexes: ['my {{ data }}'] }, 'data:"my new"', 'data:new'],
      [{ metadata: { k: 'new' } }, 'metadata.k:new', 'metadata.k:old'],
      [{ containers: ['/new/'] }, 'container:/new/', 'container:/old/'],
      [{ search_indexes: null }, 'NOT data:"my new"', 'data:"my new"'],
    ] as const;
    for (const [body, finds, misses] of changes) {
      expect(await patch(body)).to.have.property('status', 200);
      expect(await found(finds), finds).to.deep.equal([id]);
      expect(await found(misses), misses).to.deep.equal([]);
    }
  });

  it('find nothing that has expired', async () => {
    const id = await create({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    const queries = ['', 'data:value', `id:${id}`, 'NOT data:x'];
    for (const query of queries) expect(await found(query)).to.deep.equal([id]);
    await vault.database.run({ text: 'update tokens set expires_at = now() where token_id = $1' }, [id]);
    for (const query of queries) expect(await found(query)).to.deep.equal([]);
  });
});

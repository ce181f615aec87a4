import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('lists of tokens', () => {
  let vault: TestVault;
  let tenantId: string;
  let application: TestApplication;
  const create = async (body: object = {}): Promise<string> => {
    const answer = await vault.request('POST', '/tokens', {
      key: application.key,
      body: { type: 'token', data: randomUUID(), ...body },
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.id as string;
  };
  const list = (query: string, { key } = application) => vault.request('GET', query, { key });
  const idsOf = async (query: string, reader = application) => {
    const { status, body } = await list(query, reader);
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId });
  });

  describe('by page', () => {
    it('are newest first, in pages with totals', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 5; count++) ids.unshift(await create());
      expect(await idsOf('/tokens')).to.have.members(ids);
      const pages = await Promise.all([1, 2, 3, 4].map((page) => list(`/tokens?size=2&page=${page}`)));
      const listed = pages.flatMap(({ body }) => (body.data as { id: string }[]).map(({ id }) => id));
      expect(listed).to.deep.equal(await idsOf('/tokens'));
      expect(pages[1]!.body.pagination).to.deep.equal({ total_items: 5, page_number: 2, page_size: 2, total_pages: 3 });
      expect(pages[3]!.body.data).to.deep.equal([]);
      expect((await list('/tokens')).body.pagination).to.deep.include({ page_number: 1, page_size: 20 });
    });

    it('are empty where there is nothing', async () => {
      const { body } = await list('/tokens');
      expect(body).to.deep.equal({
        pagination: { total_items: 0, page_number: 1, page_size: 20, total_pages: 0 },
        data: [],
      });
    });

    it('narrow to ids', async () => {
      const [one, two] = [await create(), await create(), await create()];
      expect(await idsOf(`/tokens?id=${one}&id=${two}&id=${one}`)).to.have.members([one, two]);
      expect(await idsOf(`/tokens?id=${one}`)).to.deep.equal([one]);
      expect(await idsOf(`/tokens?id=${randomUUID()}`)).to.deep.equal([]);
    });

    it('narrow to metadata, whatever the letter case, of which all must match', async () => {
      const one = await create({ metadata: { Owner: 'Ann', site: 'A b' } });
      await create({ metadata: { owner: 'Annabel' } });
      await create();
      for (const query of [
        'metadata.owner=ann',
        'metadata.[OWNER]=ANN',
        'metadata.%5Bowner%5D=Ann',
        'metadata.owner=ann&metadata.site=a%20b',
        'metadata.owner=ann&metadata.owner=other',
        'metadata.owner=ann&metadata.[Owner]=other',
        'metadata=%7B%22owner%22%3A%22ann%22%7D',
      ]) {
        expect(await idsOf(`/tokens?${query}`), query).to.deep.equal([one]);
        expect(await idsOf(`/v2/tokens?${query}`), query).to.deep.equal([one]);
      }
      for (const query of [
        'metadata.owner=ann&metadata.site=x',
        'metadata.nobody=ann',
        'metadata.owner=an',
        'metadata.__proto__=a',
      ]) {
        expect(await idsOf(`/tokens?${query}`), query).to.deep.equal([]);
      }
    });

    it('leave out, and do not count, what the caller may not read', async () => {
      const open = await create({ containers: ['/open/below/'], data: 'shown' });
      const closed = await create({ containers: ['/closed/'] });
      const reader = await vault.application({ tenantId, rules: rulesFor({ '/open/': 'reveal' }) });
      const { body } = await list('/tokens', reader);
      expect(body.pagination.total_items).to.equal(1);
      expect(body.data).to.have.length(1);
      expect(body.data[0]).to.include({ id: open, data: 'shown' });
      expect(await idsOf(`/tokens?id=${closed}`, reader)).to.deep.equal([]);
      expect(await idsOf('/v2/tokens', reader)).to.deep.equal([open]);
    });

    it('show each token as the rule that decides about it says', async () => {
      const ids = [
        await create({ containers: ['/a/'], data: 'one', mask: 'm' }),
        await create({ data: 'two', mask: 'm' }),
      ];
      const reader = await vault.application({ tenantId, rules: rulesFor({ '/a/': 'reveal', '/': 'mask' }) });
      const { body } = await list('/tokens', reader);
      const shown = new Map((body.data as { id: string; data: string }[]).map(({ id, data }) => [id, data]));
      expect(ids.map((id) => shown.get(id))).to.deep.equal(['one', 'm']);
    });

    it('follow rules with conditions', async () => {
      const [one] = [await create({ id: 'order-1' }), await create({ id: 'other-1' })];
      const conditions = [{ attribute: 'id' as const, operator: 'starts_with' as const, value: 'order-' }];
      const rules = [{ priority: 1, conditions, transform: 'mask' as const, permissions: ['token:read' as const] }];
      const reader = await vault.application({ tenantId, rules });
      expect(await idsOf('/tokens', reader)).to.deep.equal([one]);
      expect(await list('/tokens/other-1', reader)).to.have.property('status', 403);
    });

    for (const query of [
      'page=0',
      'page=-1',
      'page=x',
      'page=1.5',
      'size=0',
      'size=101',
      'size=x',
      'size=',
      'page=9999999999999',
    ]) {
      it(`refuse ${query}`, async () => {
        const { status, body } = await list(`/tokens?${query}`);
        expect(status).to.equal(400);
        expect(Object.keys(body.errors)).to.deep.equal([query.split('=')[0]]);
      });
    }

    it('refuse NUL characters, naming the parameter', async () => {
      for (const query of ['id=%00', 'metadata.a=%00', 'metadata.%00=a']) {
        expect(await list(`/tokens?${query}`), query).to.have.property('status', 400);
      }
    });
  });

  describe('by cursor', () => {
    async function follow(query: string, between: () => Promise<unknown> = async () => undefined): Promise<string[]> {
      const ids: string[] = [];
      let start = '';
      do {
        const { body } = await list(`/v2/tokens?${query}${start}`);
        ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
        start = body.pagination.next === undefined ? '' : `&start=${body.pagination.next as string}`;
        await between();
      } while (start !== '');
      return ids;
    }

    it('give every token once, newest first', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 5; count++) ids.push(await create());
      expect(await follow('size=2')).to.deep.equal(await idsOf('/tokens'));
      expect(await follow('size=5')).to.have.members(ids);
      expect((await list('/v2/tokens?size=5')).body.pagination).to.deep.equal({ page_size: 5 });
    });

    it('give every token once that was made in one millisecond', async () => {
      const body = Array.from({ length: 5 }, (_, index) => `value ${index}`);
      const { body: ids } = await vault.request('POST', '/tokenize', { key: application.key, body });
      expect(await follow('size=1')).to.have.members(ids as string[]);
    });

    it('neither repeat nor miss a token while others are written and deleted', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 6; count++) ids.unshift(await create());
      const doomed = await create();
      const seen = await follow('size=2', async () => {
        await create();
        await vault.request('DELETE', `/tokens/${doomed}`, { key: application.key });
      });
      expect(seen.filter((id) => ids.includes(id))).to.have.length(6);
      expect(new Set(seen).size).to.equal(seen.length);
    });

    it('narrow to a container with its children, a type, a fingerprint and metadata', async () => {
      const one = await create({
        containers: ['/a/b/'],
        type: 'card_number',
        data: '4242424242424242',
        metadata: { k: 'v' },
      });
      await create({ containers: ['/ab/'], metadata: { k: 'w' } });
      const { body } = await list(`/tokens/${one}`);
      for (const query of [
        'container=/a/',
        'container=/A/B/',
        'type=card_number',
        `fingerprint=${body.fingerprint}`,
        'metadata.k=V',
      ]) {
        expect(await idsOf(`/v2/tokens?${query}`), query).to.deep.equal([one]);
      }
      for (const query of [
        'container=/b/',
        'type=bank',
        `fingerprint=${'A'.repeat(43)}`,
        'fingerprint=x',
        'container=/a/&metadata.k=w',
      ]) {
        expect(await idsOf(`/v2/tokens?${query}`), query).to.deep.equal([]);
      }
    });

    for (const [query, name] of [
      ['container=/a', 'container'],
      ['container=%00', 'container'],
      ['type=cards', 'type'],
      ['size=101', 'size'],
      ['start=', 'start'],
    ] as const) {
      it(`refuse ${query}`, async () => {
        const { status, body } = await list(`/v2/tokens?${query}`);
        expect(status).to.equal(400);
        expect(Object.keys(body.errors)).to.deep.equal([name]);
      });
    }

    it('refuse a cursor that was altered, cut, or made elsewhere', async () => {
      await create();
      await create();
      const { body } = await list('/v2/tokens?size=1');
      const next = body.pagination.next as string;
      const stranger = await vault.application({ tenantId: await vault.tenant() });
      const refused: [string, TestApplication][] = [...next].map((character, index) => [
        next.slice(0, index) + (character === 'A' ? 'B' : 'A') + next.slice(index + 1),
        application,
      ]);
      refused.push([next.slice(0, -1), application], [`${next}A`, application], ['x', application], [next, stranger]);
      for (const [cursor, reader] of refused) {
        const answer = await list(`/v2/tokens?start=${cursor}`, reader);
        expect(answer.status, cursor).to.equal(400);
        expect(Object.keys(answer.body.errors)).to.deep.equal(['start']);
      }
      const manager = await vault.application({ tenantId, type: 'management' });
      expect(await list(`/logs?start=${next}`, manager)).to.have.property('status', 400);
      expect(await list(`/v2/tokens?start=${next}`)).to.have.property('status', 200);
    });
  });
});

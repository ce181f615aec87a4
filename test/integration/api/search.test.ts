import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const SSN = '123-45-6789';

describe('searching tokens', () => {
  let vault: TestVault;
  let contract: Contract;
  let tenantId: string;
  let application: TestApplication;

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId });
  });

  async function create(body: object = {}, { key } = application): Promise<string> {
    const answer = await vault.request('POST', '/tokens', {
      key,
      body: { type: 'token', data: randomUUID(), ...body },
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.id as string;
  }
  const search = (body: object, path = '/tokens/search', { key } = application): Promise<Answer> =>
    contract.request('POST', path, { key, body });
  const idsIn = ({ status, body }: Answer): string[] => {
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  /** What both kinds of search find. */
  async function found(query: string): Promise<string[]> {
    const numbered = await search({ query });
    const ids = idsIn(numbered);
    expect(numbered.body.pagination.total_items).to.equal(ids.length);
    expect(idsIn(await search({ query }, '/v2/tokens/search'))).to.deep.equal(ids);
    return ids;
  }

  describe('by field', () => {
    it('finds an id', async () => {
      const id = await create({ id: 'order 1@x' });
      await create({ id: 'order 1' });
      expect(await found('id:"order 1@x"')).to.deep.equal([id]);
      expect(await found('id:"Order 1@x"')).to.deep.equal([]);
    });

    it('finds data by each value of its search indexes, exactly', async () => {
      const id = await create({ type: 'social_security_number', data: SSN });
      const typed = await create({ data: { n: 42, ok: true }, search_indexes: ['{{ data.n }}', 'is {{ data.ok }}'] });
      await create({ data: 'other' });
      for (const value of [SSN, '123456789', '6789']) expect(await found(`data:${value}`), value).to.deep.equal([id]);
      for (const query of ['data:42', 'data:"is true"']) expect(await found(query), query).to.deep.equal([typed]);
      for (const value of ['678', '"6789 "', 'other', '"Is true"']) expect(await found(`data:${value}`)).to.be.empty;
    });

    it('finds types', async () => {
      const id = await create({ type: 'card_number', data: '4242424242424242' });
      await create();
      expect(await found('type:card_number')).to.deep.equal([id]);
    });

    it('finds containers: the one, or with an asterisk all that begin like it', async () => {
      const [one, below, beside] = [
        await create({ containers: ['/a/'] }),
        await create({ containers: ['/a/b_c/'] }),
        await create({ containers: ['/ab/'] }),
      ];
      expect(await found('container:/a/')).to.deep.equal([one]);
      expect(await found('container:/A/')).to.deep.equal([one]);
      expect(await found('container:/a/*')).to.have.members([one, below]);
      expect(await found('container:/a*')).to.have.members([one, below, beside]);
      expect(await found('container:/a/b*')).to.deep.equal([below]);
    });

    it('finds fingerprints', async () => {
      const id = await create({ data: 'one' });
      await create({ data: 'two' });
      const { body } = await vault.request('GET', `/tokens/${id}`, { key: application.key });
      expect(await found(`fingerprint:${body.fingerprint}`)).to.deep.equal([id]);
      expect(await found('fingerprint:none')).to.deep.equal([]);
    });

    it('finds metadata, whatever the letter case', async () => {
      const id = await create({ metadata: { Owner: 'Ann Lee', 'the site': 'x' } });
      await create({ metadata: { owner: 'Annabel' } });
      for (const query of ['metadata.owner:"ann lee"', 'metadata.OWNER:"ANN LEE"', 'metadata."the site":x']) {
        expect(await found(query), query).to.deep.equal([id]);
      }
      expect(await found('metadata.owner:ann')).to.deep.equal([]);
    });

    it('finds what an application created', async () => {
      const other = await vault.application({ tenantId });
      const id = await create({}, other);
      await create();
      expect(await found(`created_by:${other.id.toUpperCase()}`)).to.deep.equal([id]);
    });

    it('finds times of creation, both ends included', async () => {
      const ids: string[] = [];
      const times: string[] = [];
      while (ids.length < 3) {
        const id = await create();
        const { body } = await vault.request('GET', `/tokens/${id}`, { key: application.key });
        ids.push(id);
        times.push(body.created_at as string);
        await eventually(() => expect(Date.now()).to.be.above(Date.parse(body.created_at as string)));
      }
      const [first, second, third] = ids;
      expect(await found(`created_at:[${times[0]} TO ${times[1]}]`)).to.deep.equal([second, first]);
      expect(await found(`created_at:[${times[1]} TO *]`)).to.deep.equal([third, second]);
      expect(await found(`created_at:[* TO ${times[0]}]`)).to.deep.equal([first]);
      expect(await found('created_at:[* TO *]')).to.have.length(3);
      expect(await found('created_at:[* TO 2020-01-01]')).to.deep.equal([]);
    });
  });

  it('joins terms by AND, OR and NOT', async () => {
    const [ann, bob, eve] = [
      await create({ metadata: { name: 'ann' }, containers: ['/x/'], search_indexes: ['shared'] }),
      await create({ metadata: { name: 'bob' }, containers: ['/x/'], search_indexes: ['shared', 'own'] }),
      await create(),
    ];
    for (const [query, expected] of [
      ['metadata.name:ann AND container:/x/', [ann]],
      ['metadata.name:ann AND metadata.name:bob', []],
      ['metadata.name:ann OR metadata.name:bob', [ann, bob]],
      ['data:shared OR metadata.name:ann OR data:own', [ann, bob]],
      ['data:shared AND NOT data:own', [ann]],
      ['NOT data:own', [ann, eve]],
      ['NOT container:/x/*', [eve]],
      ['NOT metadata.name:ann', [bob, eve]],
      ['NOT fingerprint:x', [ann, bob, eve]],
      ['NOT (metadata.name:ann OR metadata.name:bob)', [eve]],
      ['NOT (data:shared AND data:own)', [ann, eve]],
      [`(id:${ann} OR id:${eve}) AND NOT NOT container:/x/`, [ann]],
      [`NOT data:shared OR metadata.name:bob AND data:own`, [bob, eve]],
    ] as const) {
      expect(await found(query), query).to.have.members([...expected]);
    }
  });

  for (const body of [{}, { query: '' }, { query: ' ' }, { query: null, page: null, size: null }]) {
    it(`finds everything for ${JSON.stringify(body)}`, async () => {
      const ids = [await create(), await create()];
      expect(idsIn(await search(body))).to.have.members(ids);
    });
  }

  it('shows what it finds as lists do, and no value of an index', async () => {
    const id = await create({ type: 'social_security_number', data: SSN });
    const { body } = await search({ query: 'data:6789' });
    const { body: read } = await vault.request('GET', `/tokens/${id}`, { key: application.key });
    expect(body.data).to.deep.equal([read]);
    expect(read.data).to.equal('XXX-XX-6789');
  });

  describe('is refused', () => {
    for (const [name, body, properties] of [
      ['a faulty query', { query: '4242424242424242' }, ['query']],
      ['a query that is too long', { query: `id:${'a'.repeat(198)}` }, ['query']],
      ['a query that is no text', { query: 5 }, ['query']],
      ['a query with NUL', { query: 'id:\0' }, ['query']],
      ['a page of 0', { page: 0 }, ['page']],
      ['a size of 101', { size: 101 }, ['size']],
      ['all faults together', { query: 'nope', page: 1.5, size: 'x' }, ['page', 'query', 'size']],
    ] as const) {
      it(`for ${name}`, async () => {
        const answer = await search(body);
        expect(answer.status).to.equal(400);
        expect(Object.keys(answer.body.errors as object).sort()).to.deep.equal(properties);
        expect(JSON.stringify(answer.body)).not.to.contain('42424242');
      });
    }

    it('by cursor for all faults together', async () => {
      const answer = await search({ query: 'nope', start: '', size: 0 }, '/v2/tokens/search');
      expect(answer.status).to.equal(400);
      expect(answer.body.errors).to.have.all.keys('query', 'start', 'size');
    });

    it('says what is wrong and where, for every fault of a query', async () => {
      const { body } = await search({ query: 'type:x AND (created_by:y' });
      expect(body.errors.query).to.have.length(3);
      for (const message of body.errors.query) expect(message).to.match(/^must .* \(character \d+\)$/);
    });

    it('without token:search', async () => {
      const reader = await vault.application({ tenantId, permissions: ['token:read'] });
      for (const path of ['/tokens/search', '/v2/tokens/search']) {
        expect(await search({}, path, reader)).to.have.property('status', 403);
      }
    });
  });

  it('is logged, with what it found and without what it looked for', async () => {
    const id = await create({ type: 'social_security_number', data: SSN });
    await search({ query: 'data:6789' });
    await search({ query: 'data:0000' });
    const manager = await vault.application({ tenantId, type: 'management' });
    const { body } = await vault.request('GET', '/logs', { key: manager.key });
    const entries = (body.data as Record<string, string>[]).filter(({ operation }) => operation === 'search');
    expect(entries.map(({ entity_type, entity_id }) => `${entity_type} ${entity_id}`)).to.have.members([
      `tenant ${tenantId}`,
      `token ${id}`,
      `tenant ${tenantId}`,
    ]);
    expect(entries.every(({ actor_id }) => actor_id === application.id)).to.equal(true);
    expect(new Set(entries.map(({ message }) => message))).to.have.all.keys('tokens searched', 'token found by search');
  });
});

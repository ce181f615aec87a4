import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const DAY_MS = 24 * 3600_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CARD = { number: '4242424242424242' };

describe('creating tokens', () => {
  let vault: TestVault;
  let application: TestApplication;
  const create = (body: object) =>
    vault.request('POST', '/tokens', { key: application.key, body: { type: 'token', data: 'x', ...body } });
  const errorsOf = async (body: object) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(400);
    return answer.body.errors as Record<string, string[]>;
  };

  before(async () => {
    vault = await startTestVault();
    application = await vault.application();
  });
  after(() => vault.stop());

  describe('ids', () => {
    it('are UUIDs where none is asked for', async () => {
      expect((await create({})).body.id).to.match(UUID);
    });

    for (const id of ['abc', 'order:7', 'Ünï cödé', `${'l'.repeat(399)}.`, 'a "quoted" id', '$-_.!~*()@,;']) {
      it(`may be chosen: ${id.slice(0, 20)}`, async () => {
        const { status, body, headers } = await create({ id });
        expect([status, body.id]).to.deep.equal([201, id]);
        const read = await vault.request('GET', headers.get('location')!, { key: application.key });
        expect([read.status, read.body.id]).to.deep.equal([200, id]);
      });
    }

    for (const id of [
      'ab',
      'x'.repeat(401),
      'a\u0007bc',
      ' abc',
      'abc ',
      ...[...'#/\\+?[]|&=%<>{}^'].map((c) => `a${c}bc`),
    ]) {
      it(`are refused: ${JSON.stringify(id.slice(0, 20))}`, async () => {
        expect(Object.keys(await errorsOf({ id }))).to.deep.equal(['id']);
      });
    }

    it('are refused where they hold the data', async () => {
      for (const id of ['card-4242424242424242', '4242-4242-4242-4242']) {
        expect(await errorsOf({ id, type: 'card', data: CARD })).to.deep.equal({
          id: ['must not contain the data of the token'],
        });
      }
      expect(await create({ id: 'account-1', type: 'us_bank_account_number', data: '123' })).to.have.property(
        'status',
        201,
      );
    });

    it('are 409 where they are taken, and the token that has one stays', async () => {
      await create({ id: 'taken', data: 'first' });
      const { status, body } = await create({ id: 'taken', data: 'second-secret' });
      expect(status).to.equal(409);
      expect(JSON.stringify(body)).not.to.contain('second-secret');
      const rows = await vault.database.run({ text: "select from logs where entity_id = 'taken'" });
      expect(rows).to.have.length(1);
    });

    it('go to one of many requests at the same time', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, data) => create({ id: 'contended', data })));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, ...Array<number>(9).fill(409)]);
    });

    it('may be taken again by another tenant, and once deleted', async () => {
      await create({ id: 'again' });
      const other = await vault.application({ tenantId: await vault.tenant() });
      const body = { id: 'again', type: 'token', data: 'x' };
      expect(await vault.request('POST', '/tokens', { key: other.key, body })).to.have.property('status', 201);
      await vault.request('DELETE', '/tokens/again', { key: application.key });
      expect(await create({ id: 'again' })).to.have.property('status', 201);
    });

    it('may come from an expression over the data and metadata', async () => {
      const { body } = await create({ id: 'c-{{ data.n }}-{{ metadata.m }}', data: { n: 7 }, metadata: { m: 'x' } });
      expect(body.id).to.equal('c-7-x');
    });

    it('fall back to a UUID where an expression gives nothing free', async () => {
      await create({ id: 'fixed-{{ data }}' });
      const { status, body } = await create({ id: 'fixed-{{ data }}' });
      expect(status).to.equal(201);
      expect(body.id).to.match(UUID);
    });

    it('are refused where the expression gives none', async () => {
      expect(Object.keys(await errorsOf({ id: '{{ data.missing }}' }))).to.deep.equal(['id']);
      expect(Object.keys(await errorsOf({ id: '{{ data }}', type: 'card_number', data: CARD.number }))).to.deep.equal([
        'id',
      ]);
    });
  });

  describe('containers', () => {
    it('may be given, in any letter case', async () => {
      expect((await create({ containers: ['/PCI/My-Own_1/'] })).body.containers).to.deep.equal(['/pci/my-own_1/']);
      expect((await create({ containers: ['/'] })).body.containers).to.deep.equal(['/']);
    });

    it('are the default where the list is empty', async () => {
      expect((await create({ containers: [] })).body.containers).to.deep.equal(['/general/high/']);
    });

    it('follow the legacy privacy setting only where none is given', async () => {
      const privacy = { classification: 'PCI', impact_level: 'low', restriction_policy: 'mask' };
      expect((await create({ privacy })).body).to.deep.include({ containers: ['/pci/low/'] });
      expect((await create({ privacy })).body).not.to.have.property('privacy');
      expect((await create({ privacy, containers: ['/a/'] })).body.containers).to.deep.equal(['/a/']);
      expect((await create({ privacy: { impact_level: 'low' } })).body.containers).to.deep.equal(['/general/high/']);
      expect(Object.keys(await errorsOf({ privacy: { classification: 'a b', impact_level: 'c' } }))).to.deep.equal([
        'privacy',
      ]);
    });

    for (const path of ['pci', '/pci', 'pci/', '/p ci/', '//', '/pci//high/', '/pçi/', '', `/${'x'.repeat(400)}/`]) {
      it(`are refused: ${JSON.stringify(path.slice(0, 20))}`, async () => {
        expect(Object.keys(await errorsOf({ containers: [path] }))).to.deep.equal(['containers[0]']);
      });
    }

    it('are refused where there are two', async () => {
      expect(await errorsOf({ containers: ['/a/', '/b/'] })).to.deep.equal({
        containers: ['must have at most 1 entries'],
      });
    });
  });

  describe('metadata, indexes and expressions', () => {
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

    it('take as much as the limits allow', async () => {
      const metadata = { ...entries(49), ['k'.repeat(50)]: 'v'.repeat(500) };
      const { status, body } = await create({
        metadata,
        search_indexes: Array.from({ length: 10 }, (_, index) => `${index}{{ data }}`),
        fingerprint_expression: '{{ data }}'.padEnd(400, 'x'),
      });
      expect(status).to.equal(201);
      expect(body.metadata).to.deep.equal(metadata);
    });

    for (const [name, body, path] of [
      ['51 entries', { metadata: entries(51) }, 'metadata'],
      ['a key of 51 characters', { metadata: { ['k'.repeat(51)]: 'v' } }, 'metadata'],
      ['a value of 501 characters', { metadata: { k: 'v'.repeat(501) } }, 'metadata.k'],
      ['a number as a value', { metadata: { k: 1 } }, 'metadata.k'],
      ['11 search indexes', { search_indexes: Array(11).fill('{{ data }}') }, 'search_indexes'],
      ['a search index that gives nothing', { search_indexes: ['a', '{{ data.none }}'] }, 'search_indexes[1]'],
      ['a search index that gives a list', { data: [1], search_indexes: ['{{ data }}'] }, 'search_indexes[0]'],
      [
        'a fingerprint expression of 401 characters',
        { fingerprint_expression: 'x'.repeat(401) },
        'fingerprint_expression',
      ],
      ['an unknown filter', { fingerprint_expression: '{{ data | nope }}' }, 'fingerprint_expression'],
      ['a tag', { mask: '{% if true %}' }, 'mask'],
      ['a mask with a fault deep inside', { mask: { a: ['{{ data', 'b'] } }, 'mask.a[0]'],
      ['a mask that fails on the data', { mask: { a: '{{ data | to_number }}' } }, 'mask.a'],
      ['a JSONPath with several results', { data: { a: 1, b: 2 }, mask: "{{ data | json: '$.*' }}" }, 'mask'],
    ] as const) {
      it(`refuse ${name}`, async () => {
        expect(Object.keys(await errorsOf(body))).to.deep.equal([path]);
      });
    }

    it('show the mask that was asked for, evaluated, and nothing where it would show all', async () => {
      const data = { number: '4242424242424242' };
      const mask = { last: '{{ data.number | last4 }}' };
      expect((await create({ data, mask })).body).to.deep.include({ data: { last: '4242' }, mask });
      expect((await create({ data, mask: '{{ data }}' })).body).not.to.have.property('data');
      expect((await create({ type: 'card', data, mask: null })).body).not.to.have.any.keys('data', 'mask');
    });

    it('give no fingerprint where the expression gives nothing', async () => {
      const body = { data: { a: 1 }, fingerprint_expression: '{{ data.email }}', deduplicate_token: true };
      const [one, two] = [await create(body), await create(body)];
      expect(one.body).not.to.have.property('fingerprint');
      expect(two.status).to.equal(201);
    });
  });

  describe('expires_at', () => {
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
    const year = inDays(730).getUTCFullYear();
    for (const [text, expected] of [
      [`${year}-01-31T23:59:59Z`, `${year}-01-31T23:59:59.000Z`],
      [`${year}-01-31T23:59:59.123+02:00`, `${year}-01-31T21:59:59.123Z`],
      [`${year}-01-31T23:59`, `${year}-01-31T23:59:00.000Z`],
      [`${year}-01-31`, `${year}-01-31T00:00:00.000Z`],
      [`1/31/${year} 11:59:59 PM -05:00`, `${year}-02-01T04:59:59.000Z`],
      [`01/31/${year} 12:00 AM`, `${year}-01-31T00:00:00.000Z`],
      [`1/31/${year}`, `${year}-01-31T00:00:00.000Z`],
      ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ] as const) {
      it(`takes ${text}`, async () => {
        const { status, body } = await create({ expires_at: text });
        expect([status, body.expires_at]).to.deep.equal([201, expected]);
      });
    }

    it('is absent from a token that never expires', async () => {
      expect((await create({})).body).not.to.have.property('expires_at');
      expect((await create({ expires_at: null })).status).to.equal(400);
    });

    for (const text of [
      '',
      'tomorrow',
      '2020-01-01',
      '1/1/2020',
      `31/1/${year}`,
      `${year}-02-30`,
      '9999-12-31T23:59:59-14:00',
    ]) {
      it(`refuses ${JSON.stringify(text)}`, async () => {
        expect(Object.keys(await errorsOf({ expires_at: text }))).to.deep.equal(['expires_at']);
      });
    }

    it('makes a token unreadable at once', async () => {
      const { body } = await create({
        data: 'short',
        metadata: { life: 'short' },
        expires_at: inDays(1).toISOString(),
      });
      const { key } = application;
      await vault.database.run({ text: 'update tokens set expires_at = now() where token_id = $1' }, [body.id]);
      for (const [method, content] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
        expect(await vault.request(method, `/tokens/${body.id}`, { key, body: content })).to.have.property(
          'status',
          404,
        );
      }
      const listed = await vault.request('GET', '/v2/tokens?metadata.life=short', { key });
      expect(listed.body.data).to.deep.equal([]);
      const used = await vault.request('POST', '/detokenize', { key, body: { tokens: [body.id] } });
      expect(used.status).to.equal(400);
    });
  });

  it('reports every fault of a body together, whoever finds it', async () => {
    const errors = await errorsOf({
      id: 'a/b',
      type: 'card',
      data: { number: '4242424242424241', expiration_month: 13 },
      containers: ['/a/', '/b/'],
      metadata: { k: 1, nul: 'a\0b' },
      mask: '{{ data',
      search_indexes: ['{{ data | nope }}'],
      expires_at: 'never',
      deduplicate_token: 'yes',
    });
    expect(Object.keys(errors)).to.have.members([
      ...['id', 'data.number', 'data.expiration_month', 'containers', 'metadata.k', 'metadata.nul', 'mask'],
      ...['search_indexes[0]', 'expires_at', 'deduplicate_token'],
    ]);
  });

  it('reports every expression that fails on the data together', async () => {
    const errors = await errorsOf({
      id: '{{ data.none }}',
      data: { a: 'text' },
      mask: '{{ data.a | to_number }}',
      search_indexes: ['{{ data.none }}', '{{ data }}'],
      fingerprint_expression: '{{ data.a | to_number }}',
    });
    expect(Object.keys(errors)).to.have.members([
      ...['id', 'mask', 'search_indexes[0]', 'search_indexes[1]', 'fingerprint_expression'],
    ]);
  });
});

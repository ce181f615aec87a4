import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { type AccessRule, decideAccess, TRANSFORMS, type Transform } from '../../../src/domain/access.ts';
import type { Permission } from '../../../src/domain/permissions.ts';
import { rulesFor } from '../../support/access.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const NEEDED: Permission[] = ['token:search', 'token:read'];

describe('what a search may find', () => {
  let vault: TestVault;
  let tenantId: string;
  let writer: TestApplication;

  before(async () => {
    vault = await startTestVault();
    tenantId = await vault.tenant();
    writer = await vault.application({ tenantId });
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    writer = await vault.application({ tenantId });
  });

  async function create(container: string, data: string, overrides: object = {}): Promise<string> {
    const body = {
      type: 'token',
      data,
      containers: [container],
      search_indexes: ['{{ data }}'],
      mask: 'm',
      ...overrides,
    };
    const { status, body: token } = await vault.request('POST', '/tokens', { key: writer.key, body });
    expect(status).to.equal(201);
    return token.id as string;
  }
  const search = (query: string, { key }: TestApplication, path = '/tokens/search'): Promise<Answer> =>
    vault.request('POST', path, { key, body: { query, size: 100 } });
  /** Ids, after both kinds of search and the count have agreed on them. */
  async function found(query: string, application: TestApplication): Promise<string[]> {
    const [numbered, followed] = [
      await search(query, application),
      await search(query, application, '/v2/tokens/search'),
    ];
    expect(numbered.status, JSON.stringify(numbered.body)).to.equal(200);
    expect(followed.body.data).to.deep.equal(numbered.body.data);
    expect(numbered.body.pagination.total_items).to.equal(numbered.body.data.length);
    return (numbered.body.data as { id: string }[]).map(({ id }) => id);
  }
  const limited = (rules: AccessRule[]) => vault.application({ tenantId, rules, permissions: [] });

  it('is nothing of other tenants', async () => {
    const id = await create('/a/', 'value', { metadata: { k: 'v' } });
    const stranger = await vault.application({ tenantId: await vault.tenant() });
    for (const query of ['', `id:${id}`, 'data:value', 'metadata.k:v', `created_by:${writer.id}`, 'NOT id:x']) {
      expect(await found(query, stranger), query).to.deep.equal([]);
      expect(await found(query, writer), query).to.deep.equal([id]);
    }
  });

  it('is what lies in granted containers', async () => {
    const ids = [await create('/a/b/', 'same'), await create('/c/', 'same')];
    const reader = await limited(rulesFor({ '/a/': 'mask' }, NEEDED));
    for (const query of ['', 'data:same', 'NOT data:other', 'container:/*', `id:${ids[0]} OR id:${ids[1]}`]) {
      expect(await found(query, reader), query).to.deep.equal([ids[0]]);
    }
    expect(await found('container:/c/', reader)).to.deep.equal([]);
  });

  it('follows conditions on ids', async () => {
    const id = await create('/a/', 'same', { id: 'order-1' });
    await create('/a/', 'same', { id: 'other-1' });
    const conditions = [{ attribute: 'id' as const, operator: 'starts_with' as const, value: 'order-' }];
    const reader = await limited([{ priority: 1, conditions, transform: 'mask', permissions: NEEDED }]);
    expect(await found('data:same', reader)).to.deep.equal([id]);
    expect(await found('NOT data:other', reader)).to.deep.equal([id]);
  });

  it('may be read as well as searched', async () => {
    const [both] = [await create('/a/', 'same'), await create('/searched/', 'same'), await create('/read/', 'same')];
    const reader = await limited([
      ...rulesFor({ '/a/': 'mask' }, NEEDED),
      { priority: 2, container: '/searched/', transform: 'mask', permissions: ['token:search'] },
      { priority: 3, container: '/read/', transform: 'mask', permissions: ['token:read'] },
    ]);
    for (const query of ['', 'data:same', 'NOT data:other']) expect(await found(query, reader)).to.deep.equal([both]);
    const searcher = await vault.application({ tenantId, permissions: ['token:search'] });
    expect(await found('', searcher)).to.deep.equal([]);
  });

  it('is shown as the grant does that shows less', async () => {
    await create('/a/', 'value');
    const shown = async (read: Transform, searched: Transform) => {
      const reader = await limited([
        { priority: 1, container: '/', transform: read, permissions: ['token:read'] },
        { priority: 2, container: '/', transform: searched, permissions: ['token:search'] },
      ]);
      return (await search('', reader)).body.data[0].data as unknown;
    };
    expect(await shown('reveal', 'reveal')).to.equal('value');
    expect(await shown('reveal', 'mask')).to.equal('m');
    expect(await shown('mask', 'reveal')).to.equal('m');
    expect(await shown('redact', 'reveal')).to.equal(undefined);
    expect(await shown('reveal', 'redact')).to.equal(undefined);
  });

  it('is what an index was made for, also under a mask that the token does not have', async () => {
    const id = await create('/a/', 'value', { mask: null });
    const reader = await limited(rulesFor({ '/a/': 'mask' }, NEEDED));
    expect(await found('data:value', reader)).to.deep.equal([id]);
    expect((await search('data:value', reader)).body.data[0]).not.to.have.property('data');
  });

  describe('where data is redacted', () => {
    for (const redacted of NEEDED) {
      it(`by the grant of ${redacted}, does not depend on the data`, async () => {
        const id = await create('/a/secret/', 'value');
        const open = await create('/a/', 'value');
        const rules = NEEDED.flatMap((permission, index) => [
          ...(permission === redacted
            ? [{ priority: 1, container: '/a/secret/', transform: 'redact' as const, permissions: [permission] }]
            : []),
          { priority: index + 2, container: '/a/', transform: 'mask' as const, permissions: [permission] },
        ]);
        const reader = await limited(rules);
        expect(await found('data:value', reader)).to.deep.equal([open]);
        for (const guess of ['value', 'other']) {
          expect(await found(`data:${guess} AND id:${id}`, reader)).to.deep.equal([]);
          expect(await found(`NOT data:${guess} AND id:${id}`, reader)).to.deep.equal([id]);
          expect(await found(`NOT NOT data:${guess} AND id:${id}`, reader)).to.deep.equal([]);
          expect(await found(`NOT (data:${guess} OR type:card) AND id:${id}`, reader)).to.deep.equal([id]);
        }
        expect(await found(`id:${id}`, reader)).to.deep.equal([id]);
      });
    }

    it('still tells that data of one type is equal, by its fingerprint', async () => {
      const id = await create('/secret/', 'value');
      const equal = await create('/open/', 'value');
      const { fingerprint } = (await vault.request('GET', `/tokens/${equal}`, { key: writer.key })).body;
      const reader = await limited(rulesFor({ '/secret/': 'redact' }, NEEDED));
      expect(await found(`fingerprint:${fingerprint}`, reader)).to.deep.equal([id]);
      const [shown] = (await search(`id:${id}`, reader)).body.data;
      expect(shown).to.include({ fingerprint }).and.not.to.have.property('data');
    });

    it('in a container below another rule that comes first, is found as the first rule has it', async () => {
      const id = await create('/a/b/', 'value');
      const reader = await limited(rulesFor({ '/a/': 'mask', '/a/b/': 'redact' }, NEEDED));
      expect(await found('data:value', reader)).to.deep.equal([id]);
    });
  });

  it('is what the decision about each token says, for any rules', async () => {
    const containers = ['/', '/a/', '/a/b/', '/c/'];
    const tokens: { id: string; container: string; data: string }[] = [];
    for (const [index, container] of [...containers, ...containers].entries()) {
      const data = index < containers.length ? 'one' : 'two';
      tokens.push({ id: await create(container, data), container, data });
    }
    const rule = fc.record({
      container: fc.constantFrom(...containers),
      transform: fc.constantFrom(...TRANSFORMS),
      permissions: fc.subarray(NEEDED, { minLength: 1 }),
    });
    const access = fc.record({ permissions: fc.subarray(NEEDED), rules: fc.array(rule, { maxLength: 4 }) });
    const query = fc.constantFrom(
      '',
      'data:one',
      'NOT data:one',
      'data:one OR data:two',
      'NOT data:one OR container:/a/',
    );
    await fc.assert(
      fc.asyncProperty(access, query, async ({ permissions, rules: loose }, text) => {
        const rules = loose.map((each, index) => ({ priority: index + 1, ...each }));
        // Without any permission there would be 403, and not a search.
        const grants = {
          permissions,
          rules: [...rules, { priority: 9, container: '/none/', transform: 'mask' as const, permissions: NEEDED }],
        };
        const reader = await vault.application({ tenantId, ...grants });
        const expected = tokens.filter((token) => {
          const transforms = NEEDED.map((permission) => decideAccess(grants, permission, token));
          const isOne = token.data === 'one' && !transforms.includes('redact');
          const isTwo = token.data === 'two' && !transforms.includes('redact');
          const meets = {
            '': true,
            'data:one': isOne,
            'NOT data:one': !isOne,
            'data:one OR data:two': isOne || isTwo,
            'NOT data:one OR container:/a/': !isOne || token.container === '/a/',
          }[text];
          return meets && !transforms.includes(undefined);
        });
        expect(await found(text, reader)).to.have.members(expected.map(({ id }) => id));
      }),
      { numRuns: 40 },
    );
  });

  it('is unknown to a caller without data: the value itself is never in an answer', async () => {
    const value = randomUUID();
    await create('/a/', value);
    const { body } = await search(`data:${value}`, await limited(rulesFor({ '/': 'mask' }, NEEDED)));
    expect(body.data).to.have.length(1);
    expect(JSON.stringify(body)).not.to.contain(value);
  });
});

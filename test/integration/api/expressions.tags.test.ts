import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const TAG = '{% if data %}x{% endif %}';
const REFUSED = 'must not contain tags ({% %})';

describe('tags in the place of expressions', () => {
  let vault: TestVault;
  let application: TestApplication;
  let id: string;
  let reactorId: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    application = await vault.application();
    const { body } = await vault.request('POST', '/tokens', {
      ...{ key: application.key, body: { type: 'token', data: { a: 1 } } },
    });
    id = body.id;
    const { key } = await vault.application({ type: 'management' });
    const code = 'module.exports = async function (req) { return { raw: req.args }; };';
    const reactor = await vault.request('POST', '/reactors', { key, body: { name: 'Echo', code, configuration: {} } });
    reactorId = reactor.body.id;
  });
  after(() => vault.stop());

  const token = { type: 'token', data: 'a secret' };
  const rows: [name: string, method: string, path: () => string, body: object, property: string][] = [
    ['a new id', 'POST', () => '/tokens', { ...token, id: `{{ data }}${TAG}` }, 'id'],
    ['a new mask', 'POST', () => '/tokens', { ...token, mask: TAG }, 'mask'],
    ['a string within a new mask', 'POST', () => '/tokens', { ...token, mask: { a: ['x', TAG] } }, 'mask.a[1]'],
    ['new search indexes', 'POST', () => '/tokens', { ...token, search_indexes: [TAG] }, 'search_indexes[0]'],
    [
      ...(['a new fingerprint expression', 'POST', () => '/tokens'] as const),
      ...([{ ...token, fingerprint_expression: TAG }, 'fingerprint_expression'] as const),
    ],
    ['a token to tokenize', 'POST', () => '/tokenize', { a: { ...token, mask: TAG } }, 'a.mask'],
    ['a changed mask', 'PATCH', () => `/tokens/${id}`, { mask: TAG }, 'mask'],
    ['changed search indexes', 'PATCH', () => `/tokens/${id}`, { search_indexes: [TAG] }, 'search_indexes[0]'],
    [
      ...(['a changed fingerprint expression', 'PATCH', () => `/tokens/${id}`] as const),
      ...([{ fingerprint_expression: TAG }, 'fingerprint_expression'] as const),
    ],
    ['a detokenization', 'POST', () => '/detokenize', { a: TAG }, 'a'],
    ["a reactor's arguments", 'POST', () => `/reactors/${reactorId}/react`, { args: { a: [TAG] } }, 'args.a[0]'],
  ];
  for (const [name, method, path, body, property] of rows) {
    it(`are refused: ${name}`, async () => {
      const answer = await vault.request(method, path(), { key: application.key, body });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(400);
      expect(answer.body.errors).to.deep.equal({ [property]: [REFUSED] });
    });
  }

  it('are data where data stands', async () => {
    const { status, body } = await vault.request('POST', '/tokens', {
      ...{ key: application.key, body: { type: 'token', data: TAG, mask: '{{ data | reveal_last: 30 }}' } },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
  });
});

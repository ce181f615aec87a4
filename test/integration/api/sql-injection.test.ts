import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startTestVault, type TestVault } from '../../support/vault.ts';

/** Each would change a statement that a text is pasted into, quoted or not. */
const INJECTIONS = [
  "' or '1'='1",
  "x'; delete from tokens; --",
  "') or true) --",
  '" or ""="',
  "x\\'; select pg_sleep(60); --",
  '$$; truncate logs; $$',
  "' union select encode(data, 'hex') from tokens --",
];

describe('texts that would be SQL', () => {
  let vault: TestVault;
  let key: string;
  let manager: string;

  before(async () => {
    vault = await startTestVault();
    ({ key } = await vault.application());
    ({ key: manager } = await vault.application({ type: 'management' }));
    await vault.request('POST', '/tokens', { key, body: { id: 'bystander', type: 'token', data: 'other' } });
  });
  after(() => vault.stop());

  const found = async (path: string, as = key): Promise<unknown> => {
    const { status, body } = await vault.request('GET', path, { key: as });
    expect(status, path).to.equal(200);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };

  for (const injection of INJECTIONS) {
    it(`are kept and found as texts: ${injection}`, async () => {
      const metadata = { [injection.slice(0, 50)]: injection };
      const body = { type: 'token', data: injection, metadata, search_indexes: ['{{ data }}'] };
      const { status, body: token } = await vault.request('POST', '/tokens', { key, body });
      expect(status).to.equal(201);
      expect(token.metadata).to.deep.equal(metadata);
      const [name, value] = [injection.slice(0, 50), injection].map(encodeURIComponent);
      expect(await found(`/tokens?metadata.${name}=${value}`)).to.deep.equal([token.id]);
      const query = `data:${JSON.stringify(injection)}`;
      const search = await vault.request('POST', '/tokens/search', { key, body: { query } });
      expect((search.body.data as { id: string }[]).map(({ id }) => id)).to.deep.equal([token.id]);
    });

    it(`find nothing that has another text: ${injection}`, async () => {
      const text = encodeURIComponent(injection);
      for (const path of [`/tokens?id=${text}`, `/v2/tokens?fingerprint=${text}`, `/tokens?metadata.a=${text}`]) {
        expect(await found(path)).to.deep.equal([]);
      }
      expect(await found(`/reactors?name=${text}`, manager)).to.deep.equal([]);
      expect(await found(`/logs?entity_id=${text}`, manager)).to.deep.equal([]);
      for (const path of [`/tokens/${text}`, `/applications/${text}`]) {
        const as = path.startsWith('/tokens') ? key : manager;
        expect((await vault.request('GET', path, { key: as })).status).to.equal(404);
      }
      expect((await vault.request('GET', '/tokens', { key: `${randomUUID()}${injection}` })).status).to.equal(401);
    });
  }

  it('have changed nothing else', async () => {
    const answer = await vault.request('GET', '/tokens/bystander', { key });
    expect([answer.status, answer.body.id]).to.deep.equal([200, 'bystander']);
    expect(await found('/logs?entity_id=bystander', manager)).to.have.length(2);
    expect(await found('/tokens?size=100')).to.have.length(INJECTIONS.length + 1);
  });
});

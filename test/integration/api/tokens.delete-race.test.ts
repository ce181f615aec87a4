import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type Answer, type TestVault } from '../../support/vault.ts';

describe('deleting a token that is moved to another container meanwhile', () => {
  let vault: TestVault;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());

  /** Answers a delete that has read the token in /general/low/ but finds it moved. */
  async function deleteWhileMoved(to: string): Promise<{ id: string; answer: Answer }> {
    const { key } = await vault.application({
      rules: rulesFor({ '/general/low/': 'reveal', '/general/high/': 'mask' }),
    });
    const created = await vault.request('POST', '/tokens', {
      key,
      body: { type: 'token', data: 'x', containers: ['/general/low/'] },
    });
    const id = created.body.id as string;
    let request: Promise<Answer>;
    await vault.database.transaction(async (transaction) => {
      await transaction.run({ text: 'update tokens set container = $2 where token_id = $1' }, [id, to]);
      request = vault.request('DELETE', `/tokens/${id}`, { key });
      await eventually(async () => {
        const text = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from tokens%'`;
        expect(await vault.database.run({ text })).to.have.length(1);
      });
    });
    return { id, answer: await request! };
  }

  const exists = async (id: string) =>
    (await vault.database.run({ text: 'select from tokens where token_id = $1' }, [id])).length === 1;

  it('decides again, and refuses where the caller has no grant there', async () => {
    const { id, answer } = await deleteWhileMoved('/pci/high/');
    expect(answer.status).to.equal(403);
    expect(await exists(id)).to.equal(true);
  });

  it('gives up where others always come first', async () => {
    const { key } = await vault.application();
    const { body } = await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 'x' } });
    await vault.database.run({
      text: `create function keep() returns trigger language plpgsql as 'begin return null; end'`,
    });
    await vault.database.run({
      text: 'create trigger keep before delete on tokens for each row execute function keep()',
    });
    try {
      expect((await vault.request('DELETE', `/tokens/${body.id}`, { key })).status).to.equal(409);
    } finally {
      await vault.database.run({ text: 'drop trigger keep on tokens' });
    }
    expect((await vault.request('DELETE', `/tokens/${body.id}`, { key })).status).to.equal(204);
  });

  it('decides again, and deletes where the caller has a grant there too', async () => {
    const { id, answer } = await deleteWhileMoved('/general/high/');
    expect(answer.status).to.equal(204);
    expect(await exists(id)).to.equal(false);
  });
});

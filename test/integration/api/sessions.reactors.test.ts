import { expect } from 'chai';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const CODE = `module.exports = async ({ args, svc }) => {
  const { id } = await svc.tokens.create({ type: 'token', data: args.secret });
  return { raw: { id } };
};`;

describe('a reactor that a session invokes', () => {
  let vault: TestVault;

  before(async () => {
    vault = await startTestVault({ reactors: true });
  });
  after(() => vault?.stop());

  it('acts in the name of its own application, as the log has it', async () => {
    const manager = await vault.application({
      type: 'management',
      permissions: ['reactor:create', 'log:read'],
    });
    const backend = await vault.application();
    const browser = await vault.application({ type: 'public' });
    const own = await vault.application({ permissions: ['token:create'] });
    const reactor = { name: 'Creator', code: CODE, configuration: {}, application: { id: own.id } };
    const made = await vault.request('POST', '/reactors', { key: manager.key, body: reactor });
    const { body: session } = await vault.request('POST', '/sessions', { key: browser.key });
    const grant = { nonce: session.nonce, permissions: ['token:use'] };
    await vault.request('POST', '/sessions/authorize', { key: backend.key, body: grant });

    const { status, body } = await vault.request('POST', `/reactors/${made.body.id}/react`, {
      key: session.session_key as string,
      body: { args: { secret: 'x' } },
    });
    expect(status, JSON.stringify(body)).to.equal(200);
    const { body: logs } = await vault.request('GET', `/logs?entity_type=token&entity_id=${body.raw.id}`, {
      key: manager.key,
    });
    expect(logs.data).to.have.length(1);
    expect(logs.data[0]).to.deep.include({ operation: 'create', actor_type: 'application', actor_id: own.id });
  });
});

import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

describe('sessions through the client library', () => {
  let vault: TestVault;
  let browser: BasisTheoryClient;
  let backend: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault();
    browser = clientOf(vault, (await vault.application({ type: 'public' })).key);
    const transform = 'reveal';
    const rules = [
      { description: 'all', priority: 1, container: '/', transform, permissions: ['token:read'] },
    ] as const;
    const { key } = await vault.application({ rules: rules.map((rule) => ({ ...rule, permissions: ['token:read'] })) });
    backend = clientOf(vault, key);
  });
  after(() => vault.stop());

  it('let a browser read the one token that a backend grants it', async () => {
    const { id = '' } = await browser.tokens.create({ type: 'token', data: 'granted' });
    const { id: other = '' } = await browser.tokens.create({ type: 'token', data: 'not granted' });
    const { sessionKey = '', nonce = '', expiresAt } = await browser.sessions.create();
    expect(expiresAt).to.be.an.instanceOf(Date);

    const session = clientOf(vault, sessionKey);
    await failureOf(session.tokens.get(id), BasisTheory.ForbiddenError);
    const condition = { attribute: 'id', operator: 'equals', value: id };
    const rule = { description: 'one', priority: 1, conditions: [condition], transform: 'reveal' };
    const rules = [{ ...rule, permissions: ['token:read'] }];
    expect(await backend.sessions.authorize({ nonce, rules })).to.equal(undefined);
    expect((await session.tokens.get(id)).data).to.equal('granted');
    await failureOf(session.tokens.get(other), BasisTheory.ForbiddenError);
  });

  it('are authorized once, with no more than the backend has, and by a nonce that there is', async () => {
    const { nonce = '' } = await browser.sessions.create();
    const authorize = (permissions: string[], to = nonce): PromiseLike<void> =>
      backend.sessions.authorize({ nonce: to, permissions });
    await failureOf(authorize(['token:delete']), BasisTheory.ForbiddenError);
    await authorize(['token:read']);
    expect(await failureOf(authorize(['token:read']), Error)).to.include({ statusCode: 409 });
    expect(await failureOf(authorize(['token:read'], 'no such nonce'), Error)).to.include({ statusCode: 404 });
  });

  it('are created by public applications alone', async () => {
    await failureOf(backend.sessions.create(), BasisTheory.ForbiddenError);
  });
});

import { expect } from 'chai';
import { createCanaryScanner } from '../../support/canary.ts';
import { CallbackReceiver } from '../../support/callback-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { invocationIdOf } from '../../support/invocation-id.ts';
import { everything } from '../../support/permission-matrix/tenancy.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const PLAINTEXT = 'canary-of-a-reactor-without-a-log';

/** Reads a token until it may not any more, and then does something else that needs the log. */
const UNTIL_REFUSED = (then: string): string => `
  module.exports = async (req) => {
    const { svc } = req;
    for (let reads = 0; ; reads++) {
      try {
        await svc.tokens.retrieve(req.args.id);
      } catch (error) {
        const told = { reads, status: error.status ?? error.statusCode ?? null };
        ${then}
      }
    }
  };`;

/** So slow that the log can be taken away while it runs. */
const SLOW = `
  module.exports = async ({ args }) => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return { raw: args.raw };
  };`;

describe('an audit log that cannot be written while a reactor runs', function () {
  this.timeout(120_000);
  let vault: TestVault;
  let receiver: CallbackReceiver;
  let caller: TestApplication;
  let owner: TestApplication;
  let manager: TestApplication;

  before(async () => {
    receiver = await CallbackReceiver.start();
    vault = await startTestVault({ reactors: true, callbackHttpHosts: [receiver.host] });
    const tenantId = await vault.tenant();
    caller = await vault.application({ tenantId, rules: [everything('reveal')] });
    owner = await vault.application({ tenantId, rules: [everything('reveal')] });
    manager = await vault.application({ tenantId, type: 'management' });
  });
  afterEach(() => vault.database.run({ text: 'grant insert on logs to tokenkeep_api' }));
  after(async () => {
    await vault.stop();
    await receiver.stop();
  });

  const count = async (text: string): Promise<number> => {
    const [row] = await vault.database.run<{ count: number }>({
      text: `select count(*)::integer as count from ${text}`,
    });
    return row!.count;
  };

  /** Invokes a reactor, and takes the log away once its code has read a token. */
  async function invoke(then: string) {
    const reactor = await vault.request('POST', '/reactors', {
      key: manager.key,
      body: { name: 'reader', code: UNTIL_REFUSED(then), configuration: {}, application: { id: owner.id } },
    });
    expect(reactor.status).to.equal(201);
    const token = await vault.request('POST', '/tokens', { key: caller.key, body: { type: 'token', data: PLAINTEXT } });
    const id = token.body.id as string;
    const tokensBefore = await count('tokens');
    const answer = vault.request('POST', `/reactors/${reactor.body.id}/react`, {
      key: caller.key,
      body: { args: { id } },
    });
    await eventually(
      async () => expect(await count(`logs where entity_id = '${id}' and operation = 'read'`)).to.be.above(0),
      { deadlineMs: 60_000 },
    );
    await vault.database.run({ text: 'revoke insert on logs from tokenkeep_api' });
    return { ...(await answer), tokensBefore };
  }

  it('gives its code nothing more', async () => {
    const { status, body } = await invoke('return { raw: told };');
    expect(status).to.equal(200);
    expect(body.raw).to.include({ status: 503 });
    expect(createCanaryScanner({ PLAINTEXT }).scan('answer', JSON.stringify(body))).to.deep.equal([]);
  });

  const writes: Record<string, string> = {
    'lets its code create nothing': `await svc.tokens.create({ type: 'token', data: 'new' }).catch(() => undefined);`,
    'lets its code tokenize nothing': `await svc.tokenize({ a: 'new' }).catch(() => undefined);`,
    'lets its code delete nothing': `await svc.tokens.delete(req.args.id).catch(() => undefined);`,
  };
  for (const [title, call] of Object.entries(writes)) {
    it(title, async () => {
      const { status, tokensBefore } = await invoke(`${call} return { raw: told };`);
      expect(status).to.equal(200);
      expect(await count('tokens')).to.equal(tokensBefore);
    });
  }

  it('stores nothing of what its code wants tokenized, and says so with 503', async () => {
    const { status, tokensBefore } = await invoke(`return { raw: told, tokenize: { value: 'new' } };`);
    expect(status).to.equal(503);
    expect(await count('tokens')).to.equal(tokensBefore);
  });

  it('neither shows nor sends the result of one that nobody waits for, until the log is back', async () => {
    const made = await vault.request('POST', '/reactors', {
      key: manager.key,
      body: { name: 'slow', code: SLOW, configuration: {} },
    });
    const path = `/reactors/${made.body.id}`;
    const accepted = await vault.request('POST', `${path}/react`, {
      key: caller.key,
      body: { args: { raw: PLAINTEXT }, callback_url: receiver.url('result') },
    });
    expect(accepted.status).to.equal(202);
    const id = invocationIdOf(accepted);
    const isIn = (state: string) => count(`reactor_invocations where invocation_id = '${id}' and state = '${state}'`);
    await eventually(async () => expect(await isIn('running')).to.equal(1));
    await vault.database.run({ text: 'revoke insert on logs from tokenkeep_api' });
    await eventually(async () => expect(await isIn('done')).to.equal(1), { deadlineMs: 20_000 });
    const refused = await vault.request('GET', `${path}/results/${id}`, { key: caller.key });
    expect(refused.status).to.equal(503);
    expect(createCanaryScanner({ PLAINTEXT }).scan('answer', JSON.stringify(refused.body))).to.deep.equal([]);
    // Given back, to be tried soon, and not counted: nothing was sent.
    await eventually(async () => expect(await isGivenBack(id, 0)).to.equal(1), { deadlineMs: 20_000 });
    expect(receiver.received('result')).to.have.length(0);
    receiver.behave('result', (response, attempt) => response.writeHead(attempt === 1 ? 500 : 204).end());
    await vault.database.run({ text: 'grant insert on logs to tokenkeep_api' });
    await receiver.next('result');
    await eventually(async () => expect(await isGivenBack(id, 1)).to.equal(1));
    const { status, body } = await vault.request('GET', `${path}/results/${id}`, { key: caller.key });
    expect([status, body]).to.deep.equal([200, { raw: PLAINTEXT }]);
  });

  const isGivenBack = (id: string, attempts: number): Promise<number> =>
    count(`
      reactor_invocations where invocation_id = '${id}' and state = 'done' and attempts = ${attempts}
      and lease is null and due_at > now()`);
});

import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = `module.exports = async ({ args }) => {
  if (args.loops) for (;;);
  if (args.hoards) for (const all = []; ; ) all.push(new Array(1e6).fill(args.hoards));
  return { raw: 1, tokenize: args.tokenize };
};`;

describe('results of asynchronous invocations that fail', function () {
  this.timeout(90_000);
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;
  let user: TestApplication;
  let reactorId: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    contract = await readContract(vault);
    manager = await vault.application({ type: 'management' });
    user = await vault.application();
    const body = { name: 'Reactor', code: CODE, configuration: {} };
    reactorId = (await vault.request('POST', '/reactors', { key: manager.key, body })).body.id as string;
  });
  after(() => vault.stop());

  async function ask(args: object): Promise<string> {
    const body = { args, callback_url: 'https://callback.invalid/' };
    const accepted = await vault.request('POST', `/reactors/${reactorId}/react`, { key: user.key, body });
    expect(accepted.status).to.equal(202);
    return accepted.headers.get('location')!;
  }

  function ended(path: string): Promise<Answer> {
    return eventually(
      async () => {
        const answer = await contract.request('GET', path, { key: user.key });
        expect(answer.status).not.to.equal(202);
        return answer;
      },
      { deadlineMs: 80_000 },
    );
  }

  it('are 409 where the code wants a token under an id that is taken', async () => {
    const token = { id: 'taken', type: 'token', data: 1 };
    expect((await vault.request('POST', '/tokens', { key: user.key, body: token })).status).to.equal(201);
    expect((await ended(await ask({ tokenize: token }))).status).to.equal(409);
  });

  it('are 502 where its process had no memory left, and 504 where it did not end in time', async () => {
    expect((await ended(await ask({ hoards: 1 }))).status).to.equal(502);
    expect((await ended(await ask({ loops: true }))).status).to.equal(504);
  });

  it('are 422 where what is stored is damaged, as is what signs them', async () => {
    const path = await ask({});
    expect((await ended(path)).status).to.equal(200);
    const damage = (table: string, column: string) =>
      vault.database.run({
        text: `update ${table} set ${column} = set_byte(${column}, length(${column}) - 1,
          get_byte(${column}, length(${column}) - 1) # 1) where ${column} is not null`,
      });
    await damage('reactor_invocations', 'result');
    const { status, body } = await ended(path);
    expect(status).to.equal(422);
    expect(body).not.to.have.property('raw');
    const secret = '/tenants/self/webhook-secret';
    expect((await contract.request('GET', secret, { key: manager.key })).status).to.equal(200);
    await damage('webhook_secrets', 'secret');
    expect((await contract.request('GET', secret, { key: manager.key })).status).to.equal(422);
    expect((await contract.request('POST', `${secret}/rotate`, { key: manager.key })).status).to.equal(200);
    expect((await contract.request('GET', secret, { key: manager.key })).status).to.equal(200);
  });
});

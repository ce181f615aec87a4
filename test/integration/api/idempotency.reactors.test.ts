import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = `
const { BadRequestError, CustomHttpResponseError } = require('@tokenkeep/errors');
module.exports = async ({ args }) => {
  if (args.fail) throw new BadRequestError('no');
  const run = crypto.randomUUID();
  if (args.custom) throw new CustomHttpResponseError({ status: args.custom, headers: { 'X-Run': run }, body: { run } });
  return { raw: { run }, tokenize: { note: run } };
};`;

describe('an idempotency key of a reactor’s invocation', () => {
  let vault: TestVault;
  let application: TestApplication;
  let manager: TestApplication;
  let reactorId: string;
  let key: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    application = await vault.application();
    manager = await vault.application({ type: 'management' });
    const body = { name: 'run', code: CODE, configuration: {} };
    reactorId = (await vault.request('POST', '/reactors', { key: manager.key, body })).body.id;
  });
  after(() => vault.stop());
  beforeEach(() => {
    key = randomUUID();
  });

  const react = (args: object = {}) =>
    vault.request('POST', `/reactors/${reactorId}/react`, {
      key: application.key,
      headers: { 'svc-idempotency-key': key },
      body: { args },
    });

  it('has the code run once', async () => {
    const first = await react();
    expect(first.status).to.equal(200);
    const second = await react({ other: 1 });
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers.get('svc-idempotent-replayed')).to.equal('true');
  });

  it('has a custom answer given again with its headers', async () => {
    const first = await react({ custom: 201 });
    const second = await react({ custom: 201 });
    expect([second.status, second.headers.get('x-run')]).to.deep.equal([201, first.body.run]);
    expect(second.body).to.deep.equal(first.body);
  });

  for (const [what, args, status] of [
    ['an error that the code throws', { fail: true }, 400],
    ['a custom answer that is no success', { custom: 409 }, 409],
  ] as const) {
    it(`keeps no failure: ${what}`, async () => {
      expect((await react(args)).status).to.equal(status);
      const next = await react();
      expect([next.status, next.headers.has('svc-idempotent-replayed')]).to.deep.equal([200, false]);
    });
  }

  it('leaves nothing of what the code gave readable in the database', async () => {
    const { body } = await react();
    const rows = await vault.database.run<{ row: string }>({ text: 'select a::text as row from idempotent_answers a' });
    expect(rows).not.to.have.length(0);
    for (const { row } of rows) {
      expect(row).not.to.include(body.raw.run);
      expect(row).not.to.include(Buffer.from(body.raw.run as string).toString('hex'));
    }
  });

  it('has a patch of a reactor answered again without a body', async () => {
    const patch = (name: string) =>
      vault.request('PATCH', `/reactors/${reactorId}`, {
        key: manager.key,
        headers: { 'svc-idempotency-key': key },
        body: { name },
      });
    for (const name of ['first', 'second']) {
      const { status, body } = await patch(name);
      expect([status, body]).to.deep.equal([204, undefined]);
    }
    const { body } = await vault.request('GET', `/reactors/${reactorId}`, { key: manager.key });
    expect(body.name).to.equal('first');
  });
});

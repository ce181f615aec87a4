import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Statement } from '../../../src/data/database.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { watchingStatements } from '../../support/statements.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const TOKEN = { type: 'token', data: 'a secret' };

describe('the trace id of a request', () => {
  let vault: TestVault;
  let application: TestApplication;
  const lines: string[] = [];

  before(async () => {
    const destination = { write: (line: string) => void lines.push(line) };
    vault = await startTestVault({ logger: createLogger({ level: 'debug', format: 'json', destination }) });
    application = await vault.application();
  });
  after(() => vault.stop());

  const create = (headers: Record<string, string>) =>
    vault.request('POST', '/tokens', { key: application.key, headers, body: TOKEN });
  /** Has a statement fail as it does where Postgres cannot be reached. */
  const failing = (name: string, during: () => Promise<void>) => {
    const see = (statement: Statement) => {
      if (statement.name === name) throw new DomainError('unavailable', 'Postgres is unreachable');
    };
    return watchingStatements(vault.apiDatabase, see, during);
  };
  const linesOf = (trace: string) =>
    lines
      .filter((line) => line.includes(trace))
      .map((line) => JSON.parse(line) as { traceId: string; message: string });

  for (const [what, method, path] of [
    ['a path that there is not', 'GET', '/nothing'],
    ['a method that a path does not take', 'DELETE', '/permissions'],
    ['a liveness probe', 'GET', '/healthz'],
    ['a path that is not served', 'POST', '/proxy'],
  ] as const) {
    it(`comes back from ${what}`, async () => {
      const { headers } = await vault.request(method, path, { headers: { 'bt-trace-id': 'mine' } });
      expect(headers.get('bt-trace-id')).to.equal('mine');
    });
  }

  it('is in the log line of a failure that is ours', async () => {
    const trace = randomUUID();
    await failing('claim-idempotency-key', async () => {
      const { status, body } = await create({ 'svc-trace-id': trace, 'svc-idempotency-key': randomUUID() });
      expect([status, body.instance]).to.deep.equal([503, trace]);
    });
    expect(linesOf(trace)).to.have.length(1);
    expect(linesOf(trace)[0]).to.include({ traceId: trace, message: 'Request failed' });
  });

  it('is in the log line of an answer that could not be kept, and the caller learns of its success', async () => {
    const [trace, key] = [randomUUID(), randomUUID()];
    await failing('store-idempotent-answer', async () => {
      const { status } = await create({ 'svc-trace-id': trace, 'svc-idempotency-key': key });
      expect(status).to.equal(201);
    });
    expect(linesOf(trace)[0]).to.include({
      traceId: trace,
      message: 'Answer not kept under its idempotency key',
    });
    expect((await create({ 'svc-idempotency-key': key })).status).to.equal(409);
    for (const line of lines) expect(line).not.to.include(key);
  });

  it('is in the log line of a key that could not be freed, and the caller learns of its failure', async () => {
    const trace = randomUUID();
    await failing('release-idempotency-key', async () => {
      const { status } = await vault.request('POST', '/tokens', {
        key: application.key,
        headers: { 'svc-trace-id': trace, 'svc-idempotency-key': randomUUID() },
        body: {},
      });
      expect(status).to.equal(400);
    });
    expect(linesOf(trace)[0]!.message).to.include('not freed');
  });
});

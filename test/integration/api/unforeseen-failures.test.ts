import { expect } from 'chai';
import { createLogger } from '../../../src/platform/logger.ts';
import { watchingStatements } from '../../support/statements.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const SECRET = 'canary-4242424242424242';

describe('failures that nobody foresaw', () => {
  let vault: TestVault;
  let key: string;
  let log = '';

  before(async () => {
    const destination = { write: (line: string) => void (log += line) };
    vault = await startTestVault({ logger: createLogger({ level: 'debug', format: 'json', destination }) });
    ({ key } = await vault.application());
  });
  after(() => vault.stop());

  // Past the helper of other tests: no document lists an answer that is not to be.
  async function create(trace: string): Promise<{ status: number; text: string }> {
    const headers = { 'svc-api-key': key, 'svc-trace-id': trace, 'content-type': 'application/json' };
    const body = JSON.stringify({ type: 'token', data: SECRET });
    const response = await fetch(`${vault.baseUrl}/tokens`, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  }

  it('are answered with a problem that tells nothing but the trace, and are logged under it', async () => {
    const fail = (): never => {
      throw Object.assign(new TypeError('cannot read it'), { detail: SECRET, parameters: [SECRET] });
    };
    await watchingStatements(vault.apiDatabase, fail, async () => {
      const { status, text } = await create('unforeseen-1');
      expect(status).to.equal(500);
      expect(JSON.parse(text)).to.have.all.keys('type', 'title', 'status', 'detail', 'instance');
      expect(JSON.parse(text)).to.include({ instance: 'unforeseen-1' });
      expect(text).not.to.match(/cannot read it|TypeError|canary| at /);
    });
    const line = log.split('\n').find((candidate) => candidate.includes('unforeseen-1'))!;
    expect(JSON.parse(line)).to.include({ level: 'error', message: 'Request failed unexpectedly' });
    expect(JSON.parse(line)).to.have.nested.property('error.stack').that.includes('at ');
    expect(log).not.to.include('canary');
  });

  it('end the request alone: the next one is answered', async () => {
    expect((await create('unforeseen-2')).status).to.equal(201);
  });
});

import { expect } from 'chai';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INVOCATION_LIMITS } from '../../../src/reactors/types.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';
import { useBodyRunner } from '../../support/reactors/use-body-runner.ts';

interface Recorded {
  line: string;
  key: unknown;
  trace: unknown;
  type: unknown;
  body: string;
}

/** A stand-in for the API that answers by path and records what came. */
interface Recorder {
  server: Server;
  baseUrl: string;
  requests: Recorded[];
  /** Answers the calls that have been held. */
  release: () => void;
}

async function startRecorder(): Promise<Recorder> {
  const requests: Recorded[] = [];
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { 'own-api-key': key, 'own-trace-id': trace, 'content-type': type } = request.headers;
      requests.push({ line: `${request.method} ${request.url}`, key, trace, type, body });
      const status = Number(/status-(\d+)/.exec(request.url ?? '')?.[1] ?? (request.method === 'DELETE' ? 204 : 200));
      response.statusCode = status;
      if (status === 302) response.setHeader('location', '/elsewhere');
      if (status === 204) response.end();
      else if (request.url?.includes('held')) held.push(response);
      else if (request.url?.includes('large')) response.end(JSON.stringify('x'.repeat(2 ** 20)));
      else if (status < 300) response.end(JSON.stringify({ id: 'a' }));
      else response.end(JSON.stringify({ title: 'No', detail: `problem ${status}`, status }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...{ server, requests, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    release: () => held.splice(0).forEach((each) => each.end('{}')),
  };
}

describe('svc inside a reactor', function () {
  this.timeout(30_000);
  let reactors: ReactorHarness;
  let api: Awaited<ReturnType<typeof startRecorder>>;
  let runner: DeployedReactor;
  useBodyRunner((made) => ({ reactors, runner } = made));
  before(async () => {
    api = await startRecorder();
  });
  after(() => {
    api.server.closeAllConnections();
    api.server.close();
  });
  beforeEach(() => api.requests.splice(0));

  const run = (body: string) => {
    return runner.invoke(
      { body: `const { svc } = req; ${body}` },
      { svc: { baseUrl: api.baseUrl, headerPrefix: 'OWN', key: 'key_for_this_run' } },
    );
  };

  it('calls the API with the key and the trace of the invocation, which the code never sees', async () => {
    const outcome = await run(`
      const created = await svc.tokens.create({ type: 'token', data: 'x' });
      await svc.tokens.retrieve('a/b'); await svc.tokens.update('a', { data: 1 });
      const deleted = await svc.tokens.delete('a'); await svc.tokens.list({ id: ['a', 'b'], page: 2 });
      await svc.tokens.search({ query: 'q' }); await svc.tokenize({ a: 1 }); await svc.detokenize({ b: 2 });
      return { raw: { created, deleted, sees: JSON.stringify(svc) } }`);
    expect(outcome).to.deep.equal({
      kind: 'returned',
      raw: { created: { id: 'a' }, deleted: null, sees: '{"tokens":{}}' },
    });
    expect(api.requests.map(({ line, body }) => `${line} ${body}`.trim())).to.deep.equal([
      'POST /tokens {"type":"token","data":"x"}',
      'GET /tokens/a%2Fb',
      'PATCH /tokens/a {"data":1}',
      'DELETE /tokens/a',
      'GET /tokens?id=a&id=b&page=2',
      'POST /tokens/search {"query":"q"}',
      'POST /tokenize {"a":1}',
      'POST /detokenize {"b":2}',
    ]);
    expect(new Set(api.requests.map(({ key }) => key))).to.deep.equal(new Set(['key_for_this_run']));
    expect(new Set(api.requests.map(({ trace }) => trace))).to.deep.equal(new Set(['trace']));
    expect(api.requests[2]).to.have.property('type', 'application/merge-patch+json');
  });

  for (const [status, name] of [
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [403, 'AuthorizationError'],
    [404, 'BadRequestError'],
    [429, 'RateLimitError'],
    [500, 'ReactorRuntimeError'],
    [503, 'ServiceUnavailableError'],
  ] as const) {
    it(`throws ${name} where the API answers ${status}`, async () => {
      const outcome = await run(`try { await svc.tokens.retrieve('status-${status}') } catch (error) {
        return { raw: [error instanceof ${name}, error.name, error.status, error.errors] } }`);
      const raw = [true, name, status, { error: [`problem ${status}`] }];
      expect(outcome).to.deep.equal({ kind: 'returned', raw });
    });
  }

  it('says so where the answer is larger than 1 MB', async () => {
    const outcome = await run(`try { await svc.tokens.retrieve('large') } catch (error) {
        return { raw: [error.name, error.status, error.errors] } }`);
    const raw = [
      'ServiceUnavailableError',
      502,
      { error: ['The answer of the API is larger than 1 MB, or than there is room for.'] },
    ];
    expect(outcome).to.deep.equal({ kind: 'returned', raw });
  });

  it('follows no redirect', async () => {
    await run(`await svc.tokens.retrieve('status-302')`);
    expect(api.requests.map(({ line }) => line)).to.deep.equal(['GET /tokens/status-302']);
  });

  for (const call of [`svc.tokens.retrieve('..')`, `svc.tokens.retrieve({})`, `svc.tokens.delete('')`]) {
    it(`asks nothing of the API for ${call}`, async () => {
      const outcome = await run(`await ${call}`);
      expect(outcome).to.deep.include({ kind: 'threw', status: 400 });
      expect(api.requests).to.be.empty;
    });
  }

  it('refuses calls beyond those that may be outstanding', async () => {
    // The last call is refused after all others that are.
    const outcome = await run(`
      let refused = 0;
      for (let i = 0; i < 30; i++) svc.tokens.retrieve('held').catch(() => (refused += 1));
      await svc.tokens.retrieve('held').catch(() => undefined);
      return { raw: refused }`);
    api.release();
    expect(outcome).to.deep.equal({ kind: 'returned', raw: 30 - INVOCATION_LIMITS.calls });
  });

  it('throws ServiceUnavailableError where the API cannot be reached', async () => {
    const { invoke } = await reactors.deploy(`module.exports = async ({ svc }) => { await svc.tokenize({}) }`);
    const outcome = await invoke({}, { svc: { baseUrl: 'http://127.0.0.1:1', headerPrefix: 'SVC', key: 'k' } });
    expect(outcome).to.deep.include({ kind: 'threw', status: 503 });
  });
});

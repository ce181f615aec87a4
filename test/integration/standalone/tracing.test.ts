import { expect } from 'chai';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createStandaloneFolder, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { startStandalone, type StandaloneProgram } from '../../support/standalone.ts';
import { startCollector, type CollectedSpan, type TestCollector } from '../../support/tracing/collector.ts';

const PLAINTEXT = 'canary-of-traces-4242424242424242';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const SAMPLED = { traceparent: `00-${TRACE}-${CALLER}-01` };

const OWNER = {
  kind: 'Application',
  name: 'owner',
  spec: {
    type: 'private',
    permissions: ['token:create', 'token:use'],
    rules: [
      {
        description: 'All',
        priority: 1,
        container: '/',
        transform: 'reveal',
        permissions: ['token:read', 'token:use'],
      },
    ],
  },
};
const READER = {
  kind: 'Reactor',
  name: 'reader',
  spec: {
    code: 'module.exports = async ({ args, svc }) => ({ raw: (await svc.tokens.retrieve(args.id)).data.length });',
    applicationRef: { name: 'owner' },
  },
};

describe('traces', function () {
  this.timeout(120_000);
  let collector: TestCollector;
  let folder: StandaloneFolder;
  let test: TestDatabase;
  let vault: StandaloneProgram | undefined;
  let spans: readonly CollectedSpan[];
  let tokenId: string;
  let key: string;
  let ownTraceId: string | null;
  let logged: string[];

  // One vault for all of them: what was asked of it is sent at the latest when it is stopped.
  before(async () => {
    collector = await startCollector();
    folder = await createStandaloneFolder();
    test = await createEmptyDatabase();
    await folder.write('manifests.yaml', [OWNER, READER]);
    vault = await startStandalone({
      ...folder,
      flags: ['--database-url', test.connectionString],
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
    });
    key = await vault.keyOf('owner');
    const created = await vault.request('POST', '/tokens?canary-of-query', {
      ...{ key, headers: SAMPLED },
      // Its index needs a key that this vault does not have yet.
      body: { type: 'token', data: PLAINTEXT, search_indexes: ['{{ data }}'] },
    });
    expect(created.status).to.equal(201);
    tokenId = (created.body as { id: string }).id;
    const reactorId = await reactorIdOf(vault);
    const invoked = await vault.request('POST', `/reactors/${reactorId}/react`, {
      ...{ key, headers: SAMPLED },
      body: { args: { id: tokenId } },
    });
    expect(invoked.body).to.deep.equal({ raw: PLAINTEXT.length });
    expect((await vault.request('GET', `/canary-of-path/${tokenId}`, { key })).status).to.equal(404);
    const unsampled = { traceparent: SAMPLED.traceparent.replace(/01$/, '00').replace(TRACE, TRACE.replace('0', '1')) };
    expect((await vault.request('GET', `/tokens/${tokenId}`, { key, headers: unsampled })).status).to.equal(200);
    const own = await fetch(`${vault.baseUrl}/tokens/${tokenId}`, { headers: { 'svc-api-key': key } });
    ownTraceId = own.headers.get('svc-trace-id');
    expect(own.status).to.equal(200);
    const { code, stderr } = await vault.stop();
    expect(code).to.equal(0);
    logged = stderr.split('\n').filter((line) => line !== '');
    vault = undefined;
    spans = collector.spans;
  });
  after(async () => {
    await vault?.stop();
    await collector.close();
    await test.dispose();
    await folder.dispose();
  });

  async function reactorIdOf(program: StandaloneProgram): Promise<string> {
    const [found] = await test.database.run<{ id: string }>({ text: 'select reactor_id as id from reactors' });
    if (found === undefined) throw new Error(`no reactor: ${program.output().stderr}`);
    return found.id;
  }

  const named = (name: string, traceId = TRACE): CollectedSpan => {
    const found = spans.find((span) => span.name === name && span.traceId === traceId);
    if (found === undefined) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
    return found;
  };
  const parentOf = (span: CollectedSpan): CollectedSpan | undefined =>
    spans.find(({ spanId }) => spanId === span.parentId);

  it('go on where the caller’s do, under the route and its status', () => {
    const request = named('POST /tokens');
    expect(request).to.include({ kind: 'server', parentId: CALLER, failed: false });
    expect(request.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/tokens',
      'http.response.status_code': 201,
    });
    expect(request.resource).to.include({ 'service.name': 'tokenkeep', 'deployment.environment.name': 'test' });
  });

  it('hold statements by their name, and what key management does', () => {
    const request = named('POST /tokens');
    const statement = spans.find(({ name, parentId }) => name.startsWith('postgres ') && parentId === request.spanId);
    expect(statement).to.include({ kind: 'client', traceId: TRACE });
    expect(Object.keys(statement!.attributes)).to.have.members(['db.system.name', 'db.query.summary']);
    expect(named('key-management createDataKey')).to.include({ kind: 'internal' });
  });

  it('follow an invocation into its instance, and back to the API', () => {
    const request = named('POST /reactors/{id}/react');
    const invocation = named('reactor invoke');
    expect(parentOf(invocation)?.spanId).to.equal(request.spanId);
    expect(invocation.attributes).to.include({ 'tokenkeep.reactor.outcome': 'returned' });
    const call = named('GET /tokens/{id}');
    expect(parentOf(call)?.spanId).to.equal(invocation.spanId);
  });

  it('are left out where the caller’s is, and of the vault’s own work', () => {
    const others = spans.filter(({ traceId }) => traceId !== TRACE);
    const roots = others.filter(({ parentId }) => parentId === '');
    expect(roots.map(({ name }) => name)).to.have.members(['unmatched', 'GET /tokens/{id}']);
    expect(others.filter(({ traceId }) => !roots.some((root) => root.traceId === traceId))).to.deep.equal([]);
  });

  it('have the id that the answer and the log have', () => {
    expect(named('GET /tokens/{id}', ownTraceId!).parentId).to.equal('');
  });

  it('are beside a log of one JSON object a line', () => {
    expect(logged).not.to.be.empty;
    for (const line of logged) expect(JSON.parse(line), line).to.include.keys('time', 'level', 'message');
  });

  it('hold no plaintext, key, id of a token, path or query', () => {
    const received = collector.received();
    expect(spans).to.have.length.above(10);
    for (const secret of [PLAINTEXT, key, tokenId, tokenId.replaceAll('-', ''), 'canary-of-query', 'canary-of-path']) {
      expect(received.includes(secret), secret).to.equal(false);
    }
  });
});

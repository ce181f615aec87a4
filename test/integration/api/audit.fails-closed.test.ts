import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCanaryScanner } from '../../support/canary.ts';
import { eventually } from '../../support/eventually.ts';
import { AUDIT_CAUSES } from '../../support/audit-causes.ts';
import { type EndpointRow, readMatrix } from '../../support/permission-matrix/matrix.ts';
import { PLAINTEXT, type RequestOfEndpoint, REQUESTS } from '../../support/permission-matrix/requests.ts';
import { createTenancy, everything, type Tenancy } from '../../support/permission-matrix/tenancy.ts';
import { tableContents } from '../../support/table-contents.ts';
import { type Answer, startTestVault, type TestVault } from '../../support/vault.ts';

const { endpoints } = await readMatrix();

/** What neither shows nor changes what anybody stored: it goes on without a log. Everything else needs one. */
const UNLOGGED = new Set([
  'GET /applications/key',
  'GET /application-templates',
  'GET /application-templates/{id}',
  'GET /permissions',
  'GET /logs',
  'GET /logs/entity-types',
  'GET /tenants/self',
  'GET /tenants/self/reports/usage',
  // Of the invocations of others, as they all are here: 404. Of its own: see the suite of reactors.
  'GET /reactors/{id}/results/{requestId}',
]);
const logged = endpoints.filter(({ endpoint }) => !endpoint.startsWith('any ') && !UNLOGGED.has(endpoint));

/** Requests at a time: some wait for a lock as long as they may. */
const AT_ONCE = 8;

interface Prepared extends RequestOfEndpoint {
  endpoint: EndpointRow;
  key: string;
  idempotencyKey: string;
}

async function mapSome<Item, Result>(items: readonly Item[], map: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < items.length; index += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(index, index + AT_ONCE).map(map))));
  }
  return results;
}

for (const cause of AUDIT_CAUSES) {
  describe(`an audit log that cannot be written: ${cause.name}`, function () {
    this.timeout(240_000);
    let vault: TestVault;
    let mend: (() => Promise<void>) | undefined;
    let requests: Prepared[];
    let failed: Map<string, Answer>;
    let contentsBefore: Record<string, string>;
    let contentsAfter: Record<string, string>;
    let healed: Map<string, Answer>;

    function keyFor(tenancy: Tenancy, revealing: string, { permission, holders, shows }: EndpointRow): string {
      if (shows !== undefined || permission?.startsWith('token:')) return revealing;
      return tenancy.keys[holders[0] as keyof Tenancy['keys']];
    }

    const send = ({ endpoint: { endpoint }, key, path, body, idempotencyKey }: Prepared): Promise<Answer> =>
      vault.request(endpoint.split(' ')[0]!, path, {
        key,
        ...(body === undefined ? {} : { body: body as object }),
        headers: { 'svc-idempotency-key': idempotencyKey },
      });
    const sendAll = async (): Promise<Map<string, Answer>> =>
      new Map(await mapSome(requests, async (request) => [request.endpoint.endpoint, await send(request)] as const));

    before(async () => {
      vault = await startTestVault({ reactors: true });
      const tenancy = await createTenancy(vault);
      const { key } = await vault.application({ tenantId: tenancy.tenantId, rules: [everything('reveal')] });
      requests = await mapSome(logged, async (endpoint) => {
        const build = REQUESTS[endpoint.endpoint]!;
        const request = build(await tenancy.subjectsFor(endpoint.endpoint, build));
        return { ...request, endpoint, key: keyFor(tenancy, key, endpoint), idempotencyKey: randomUUID() };
      });
      mend = await cause.begin(vault);
      if (mend === undefined) return;
      contentsBefore = await tableContents(vault.database);
      failed = await sendAll();
      contentsAfter = await tableContents(vault.database);
      await mend();
      healed = await eventually(
        async () => {
          const [first] = requests;
          expect((await send({ ...first!, idempotencyKey: randomUUID() })).status).to.equal(first!.endpoint.success);
          return sendAll();
        },
        { deadlineMs: 60_000 },
      );
    });
    after(() => vault.stop());
    beforeEach(function () {
      if (mend !== undefined) return;
      const reason = `this machine cannot bring about: ${cause.name}`;
      if (process.env['CI'] === 'true') throw new Error(reason);
      process.stderr.write(`SKIPPED: ${reason}\n`);
      this.skip();
    });

    for (const { endpoint, success } of logged) {
      it(`refuses ${endpoint} with 503 and shows nothing`, () => {
        const { status, headers, body } = failed.get(endpoint)!;
        expect(status).to.equal(503);
        expect(headers.get('content-type')).to.include('application/problem+json');
        expect(headers.get('retry-after')).to.equal('1');
        expect(body).to.include({ status: 503 });
        const scanner = createCanaryScanner({ plaintext: PLAINTEXT });
        const text = JSON.stringify([body, [...headers]]);
        expect(scanner.scan(endpoint, text)).to.deep.equal([]);
      });

      it(`answers ${endpoint} with ${success} once the log can be written, for the first time`, () => {
        const { status, headers } = healed.get(endpoint)!;
        expect(status).to.equal(success);
        expect(headers.get('svc-idempotent-replayed')).to.equal(null);
      });
    }

    it('leaves no effect of what it refuses', () => {
      expect(contentsAfter).to.deep.equal(contentsBefore);
    });
  });
}

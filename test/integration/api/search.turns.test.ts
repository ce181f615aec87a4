import { expect } from 'chai';
import pg from 'pg';
import { eventually } from '../../support/eventually.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

/** Searches that ask for data wait for this lock, and nothing that reads tokens does. */
const HOLD = 'begin; lock table token_search_hashes in access exclusive mode';
const WAITING_OF_TENANT = 5;
const LONG = { waitMs: 120_000, statementMs: 120_000 };

describe('many searches of one tenant', () => {
  let vault: TestVault;
  let holder: pg.Client;
  let crowd: TestApplication;
  let other: TestApplication;
  const tokens = new Map<TestApplication, string>();
  let sent: Promise<Answer>[];

  before(async () => {
    vault = await startTestVault({ broadReads: { ...LONG, atOnce: 3, waitingOfGroup: WAITING_OF_TENANT } });
    crowd = await vault.application({ tenantId: await vault.tenant() });
    other = await vault.application({ tenantId: await vault.tenant() });
    for (const { key } of [crowd, other]) {
      const body = { type: 'token', data: 'value', search_indexes: ['{{ data }}'], metadata: { k: 'v' } };
      const created = await vault.request('POST', '/tokens', { key, body });
      tokens.set(key === crowd.key ? crowd : other, created.body.id as string);
    }
  });
  after(() => vault.stop());

  beforeEach(async () => {
    sent = [];
    holder = new pg.Client({ connectionString: vault.connectionString });
    await holder.connect();
    await holder.query(HOLD);
  });
  afterEach(async () => {
    await holder.end();
    await Promise.allSettled(sent);
  });

  function send(application: TestApplication, method: string, path: string, body?: object): Promise<Answer> {
    const answer = vault.request(method, path, { key: application.key, ...(body === undefined ? {} : { body }) });
    sent.push(answer);
    return answer;
  }
  function search(application: TestApplication, path = '/tokens/search'): Promise<Answer> {
    return send(application, 'POST', path, { query: 'data:value' });
  }

  async function state(): Promise<{ running: number; waiting: number; inDatabase: number }> {
    const text = await vault.metrics.registry.metrics();
    const of = (name: string) =>
      Number(new RegExp(`^tokenkeep_broad_reads\\{state="${name}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
    const [row] = await vault.database.run<{ count: number }>({
      text: `
        select count(*)::integer from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%token_search_hashes%'`,
    });
    return { running: of('running'), waiting: of('waiting'), inDatabase: row!.count };
  }
  const becomes = (running: number, waiting: number) =>
    eventually(async () => expect(await state()).to.deep.equal({ running, waiting, inDatabase: running }), {
      deadlineMs: 60_000,
    });

  it('have two connections, while the tenant and others read and search as ever', async () => {
    for (const path of ['/tokens/search', '/v2/tokens/search', '/tokens/search']) void search(crowd, path);
    await becomes(2, 1);
    for (const path of ['/tokens?metadata.k=v', '/v2/tokens?metadata.k=v']) void send(crowd, 'GET', path);
    await becomes(2, 3);

    for (const application of [crowd, other]) {
      for (const path of [`/tokens/${tokens.get(application)}`, '/tokens', '/v2/tokens?type=token', '/readyz']) {
        expect(await vault.request('GET', path, { key: application.key }), path).to.have.property('status', 200);
      }
    }
    expect(await vault.request('GET', '/v2/tokens?metadata.k=v', { key: other.key })).to.have.property('status', 200);
    void search(other);
    await becomes(3, 3);

    await holder.query('commit');
    for (const answer of await Promise.all(sent)) {
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body.data).to.have.length(1);
    }
    await becomes(0, 0);
  }).timeout(180_000);

  it('are refused where too many wait, and told when to come back', async () => {
    for (let count = 0; count < 2 + WAITING_OF_TENANT; count++) void search(crowd);
    await becomes(2, WAITING_OF_TENANT);
    const requests = [
      ['POST', '/tokens/search', { query: 'data:value' }],
      ['POST', '/v2/tokens/search', {}],
      ['GET', '/tokens?metadata.k=v'],
      ['GET', '/v2/tokens?metadata.k=v'],
    ] as const;
    for (const [method, path, body] of requests) {
      const answer = await send(crowd, method, path, body);
      expect(answer.status, path).to.equal(503);
      expect(answer.headers.get('retry-after'), path).to.match(/^[1-9]\d*$/);
      expect(answer.body.detail).to.match(/^Too many searches and lists by metadata are under way: try again later/);
    }
    void search(other);
    await becomes(3, WAITING_OF_TENANT);
  }).timeout(180_000);

  it('are forgotten once nobody waits for their answer', async () => {
    const departure = new AbortController();
    const leave = (method: string, path: string, body?: string) => {
      const headers = { 'svc-api-key': crowd.key, 'content-type': 'application/json' };
      return fetch(vault.baseUrl + path, {
        ...{ method, headers, signal: departure.signal },
        ...(body === undefined ? {} : { body }),
      }).catch(() => undefined);
    };
    for (let count = 0; count < 3; count++) void search(crowd);
    await becomes(2, 1);
    const left = [
      leave('POST', '/tokens/search', '{"query": "data:value"}'),
      leave('POST', '/v2/tokens/search', '{"query": "data:value"}'),
      leave('GET', '/tokens?metadata.k=v'),
      leave('GET', '/v2/tokens?metadata.k=v'),
    ];
    await becomes(2, 5);
    departure.abort();
    await Promise.all(left);
    await becomes(2, 1);
    await holder.query('commit');
    expect((await Promise.all(sent)).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
  }).timeout(180_000);
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Statement } from '../../../src/data/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { watchingStatements } from '../../support/statements.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const TOKEN = { type: 'token', data: 'a secret' };

describe('requests with one idempotency key', () => {
  let vault: TestVault;
  let replica: { baseUrl: string; stop(): Promise<void> };
  let manager: TestApplication;
  let application: TestApplication;
  let key: string;

  before(async () => {
    vault = await startTestVault();
    manager = await vault.application({ type: 'management' });
    application = await vault.application();
    replica = await startReplica(vault);
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });
  beforeEach(() => {
    key = randomUUID();
  });

  const create = (body: object = TOKEN) =>
    vault.request('POST', '/tokens', { key: application.key, headers: { 'svc-idempotency-key': key }, body });

  async function put(id: string, name: string, baseUrl = vault.baseUrl, signal?: AbortSignal) {
    const response = await fetch(`${baseUrl}/applications/${id}`, {
      method: 'PUT',
      headers: { 'svc-api-key': manager.key, 'svc-idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ name, permissions: ['token:read'] }),
      ...(signal === undefined ? {} : { signal }),
    });
    const body = (await response.json()) as { name: string; detail: string };
    return { status: response.status, replayed: response.headers.has('svc-idempotent-replayed'), body };
  }

  const run = <Row>(text: string, values: unknown[] = []) => vault.database.run<Row>({ text }, values);
  const claimsOf = (owner: TestApplication) =>
    run<{ claim: string }>('select claim from idempotent_answers where owner_id = $1 and answer is null', [owner.id]);
  const move = (owner: TestApplication, expiry: string) =>
    run(`update idempotent_answers set expires_at = ${expiry} where owner_id = $1`, [owner.id]);

  /** Holds up whoever changes the application, until `during` is over. */
  async function holdingUp(id: string, during: () => Promise<void>): Promise<void> {
    await vault.database.transaction(async (transaction) => {
      await transaction.run({ text: 'select from applications where application_id = $1 for update' }, [id]);
      await during();
    });
  }

  it('are refused while the first one is under way, on every replica, and answered like it then', async () => {
    const { id } = await vault.application();
    let first!: ReturnType<typeof put>;
    await holdingUp(id, async () => {
      first = put(id, 'first');
      await eventually(async () => expect(await claimsOf(manager)).to.have.length(1));
      for (const baseUrl of [vault.baseUrl, replica.baseUrl]) {
        const { status, body } = await put(id, 'second', baseUrl);
        expect([status, body.detail]).to.deep.equal([409, 'A request with this idempotency key is under way.']);
      }
    });
    expect((await first).status).to.equal(200);
    expect(await put(id, 'third', replica.baseUrl)).to.deep.equal({ ...(await first), replayed: true });
  });

  it('are answered like the first one although its client is gone: it has gone on', async () => {
    const { id } = await vault.application();
    const leaving = new AbortController();
    await holdingUp(id, async () => {
      const first = put(id, 'first', vault.baseUrl, leaving.signal).catch((error: Error) => error.name);
      await eventually(async () => expect(await claimsOf(manager)).to.have.length(1));
      leaving.abort();
      expect(await first).to.equal('AbortError');
      expect((await put(id, 'second')).status).to.equal(409);
    });
    await eventually(async () => expect(await put(id, 'second')).to.deep.include({ status: 200, replayed: true }));
    expect((await put(id, 'second')).body.name).to.equal('first');
  });

  it('do their work once where many come at once, on two replicas', async () => {
    const send = (baseUrl: string) =>
      fetch(`${baseUrl}/tokens`, {
        method: 'POST',
        headers: { 'svc-api-key': application.key, 'svc-idempotency-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ ...TOKEN, metadata: { batch: key } }),
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(index % 2 ? vault.baseUrl : replica.baseUrl)),
    );
    for (const { status } of answers) expect(status).to.be.oneOf([201, 409]);
    const ids = new Set<string>();
    for (const answer of answers.filter(({ status }) => status === 201)) {
      ids.add(((await answer.json()) as { id: string }).id);
    }
    expect(ids).to.have.property('size', 1);
    const { body } = await vault.request('GET', `/tokens?metadata.batch=${key}`, { key: application.key });
    expect(body.pagination.total_items).to.equal(1);
  });

  it('are not refused for ever where the process of the first one died: its lease runs out', async () => {
    await create();
    await move(application, `now() + interval '1 minute', answer = null`);
    expect((await create()).status).to.equal(409);
    await move(application, 'now()');
    const { status, headers } = await create();
    expect([status, headers.has('svc-idempotent-replayed')]).to.deep.equal([201, false]);
  });

  it('are held for two minutes at most by one that is under way', async () => {
    const { id } = await vault.application();
    let first!: ReturnType<typeof put>;
    await holdingUp(id, async () => {
      first = put(id, 'first');
      await eventually(async () => expect(await claimsOf(manager)).to.have.length(1));
      const [row] = await run<{ seconds: number }>(
        `select extract(epoch from expires_at - now())::float8 as seconds from idempotent_answers
         where owner_id = $1 and answer is null`,
        [manager.id],
      );
      expect(row!.seconds).to.be.within(60, 120);
    });
    await first;
  });

  it('leave the answer of the one that holds the key, where another outlived its lease', async () => {
    const { id } = await vault.application();
    const pending: ReturnType<typeof put>[] = [];
    await holdingUp(id, async () => {
      pending.push(put(id, 'first'));
      await eventually(async () => expect(await claimsOf(manager)).to.have.length(1));
      const [{ claim } = { claim: '' }] = await claimsOf(manager);
      await run('update idempotent_answers set expires_at = now() where claim = $1', [claim]);
      pending.push(put(id, 'second', replica.baseUrl));
      await eventually(async () => expect((await claimsOf(manager))[0]?.claim).not.to.equal(claim));
    });
    const [first, second] = await Promise.all(pending);
    expect([first!.status, second!.status]).to.deep.equal([200, 200]);
    expect((await put(id, 'third')).body).to.deep.equal(second!.body);
  });

  it('are answered alike for 24 hours, and no longer', async () => {
    const first = await create();
    const [row] = await run<{ seconds: number }>(
      `select max(extract(epoch from expires_at - now()))::float8 as seconds from idempotent_answers
       where owner_id = $1`,
      [application.id],
    );
    expect(row!.seconds).to.be.within(24 * 3600 - 60, 24 * 3600);
    await move(application, `now() + interval '1 minute'`);
    expect((await create()).body).to.deep.equal(first.body);
    await move(application, 'now()');
    const later = await create();
    expect(later.status).to.equal(201);
    expect(later.body.id).not.to.equal(first.body.id);
  });

  it('are not repeated where the answer was too large to be kept: they are told so', async () => {
    const large = { ...TOKEN, mask: 'x'.repeat(600_000) };
    const first = await create(large);
    expect([first.status, JSON.stringify(first.body).length > 1024 * 1024]).to.deep.equal([201, true]);
    const { status, body } = await create(large);
    expect([status, body.detail]).to.deep.equal([
      409,
      'The request with this idempotency key succeeded; its answer was too large to be kept.',
    ]);
    const [row] = await run<{ bytes: number }>('select max(length(answer)) as bytes from idempotent_answers');
    expect(row!.bytes).to.be.lessThan(100_000);
  });

  it('cost two statements, and one where they are answered again; without a key there is none', async () => {
    const names: string[] = [];
    const see = ({ name, text }: Statement) => {
      if (text.includes('idempotent_answers')) names.push(name ?? 'unnamed');
    };
    await watchingStatements(vault.apiDatabase, see, async () => {
      await vault.request('POST', '/tokens', { key: application.key, body: TOKEN });
      expect(names).to.deep.equal([]);
      await create();
      expect(names.splice(0)).to.deep.equal(['claim-idempotency-key', 'store-idempotent-answer']);
      await create();
      expect(names.splice(0)).to.deep.equal(['claim-idempotency-key']);
      key = randomUUID();
      await create({});
      expect(names).to.deep.equal(['claim-idempotency-key', 'release-idempotency-key']);
    });
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  type ClaimedInvocation,
  claimInvocation,
  readBacklog,
  type Stage,
  sweepInvocations,
} from '../../../src/data/invocation-claims.ts';
import {
  beginInvocation,
  endInvocation,
  postponeInvocation,
  renewLease,
  settleInvocation,
} from '../../../src/data/invocation-progress.ts';
import { insertInvocation, type InvocationRow, getInvocation } from '../../../src/data/invocations.ts';
import { deleteTenant } from '../../../src/data/tenant-deletion.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newInvocation, newLog, storedTenant } from '../../support/rows.ts';

const NOW = { seconds: 0, isCounted: true };
const RESULT = Buffer.from('sealed result');

describe('asynchronous invocations in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(async () => {
    await test.database.run({ text: 'delete from reactor_invocations' });
    tenantId = await storedTenant(test.database);
  });

  async function accept(most = 1_000, of = tenantId) {
    const invocation = newInvocation(of);
    const log = newLog(of, invocation.reactorId);
    return { invocation, accepted: await insertInvocation(test.database, invocation, most, log) };
  }

  function claim(overrides: { stage?: Stage; leaseSeconds?: number; tenants?: string[]; reactors?: string[] } = {}) {
    const { stage = 'run', leaseSeconds = 60, tenants = [], reactors = [] } = overrides;
    const busy = { busyTenants: tenants, busyReactors: reactors };
    return claimInvocation(test.maintenance, { stage, lease: randomUUID(), leaseSeconds, ...busy });
  }

  async function claimed(leaseSeconds = 60): Promise<ClaimedInvocation> {
    await accept();
    return (await claim({ leaseSeconds }))!;
  }

  const stateOf = async (claim: ClaimedInvocation): Promise<InvocationRow['state'] | undefined> =>
    (await getInvocation(test.database, claim))?.state;

  /** As if the lease had run out: its holder is gone. */
  const lapse = () => test.database.run({ text: 'update reactor_invocations set due_at = now()' });

  it('are claimed once, whoever asks at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, async () => (await accept()).invocation.id));
    const found: string[] = [];
    const drain = async (): Promise<void> => {
      for (let one = await claim(); one !== undefined; one = await claim()) found.push(one.id);
    };
    await Promise.all(Array.from({ length: 8 }, drain));
    expect(found.sort()).to.deep.equal(ids.sort());
  });

  it('that are given back untried are not counted', async () => {
    const first = await claimed();
    expect(first.attempts).to.equal(1);
    await postponeInvocation(test.database, first, { seconds: 0, isCounted: false });
    const second = (await claim())!;
    expect(second.attempts).to.equal(1);
    await postponeInvocation(test.database, second, NOW);
    expect((await claim())!.attempts).to.equal(2);
  });

  it('that have waited longest come first; those of busy tenants and reactors are left', async () => {
    const [first, second] = [(await accept()).invocation, (await accept()).invocation];
    const foreign = (await accept(10, await storedTenant(test.database))).invocation;
    await test.database.run({
      text: `update reactor_invocations set due_at = now() - interval '1 hour' where invocation_id = '${second.id}'`,
    });
    expect((await claim({ tenants: [tenantId] }))?.id).to.equal(foreign.id);
    expect((await claim({ reactors: [second.reactorId] }))?.id).to.equal(first.id);
    expect((await claim())?.id).to.equal(second.id);
    expect(await claim()).to.equal(undefined);
  });

  it('are claimed by others once a lease has run out, and not while it is renewed', async () => {
    const lost = await claimed(0);
    const next = (await claim())!;
    expect(next).to.include({ id: lost.id, state: 'waiting', attempts: 2 });
    expect(await renewLease(test.database, lost, 60)).to.equal(false);
    expect(await renewLease(test.database, next, 60)).to.equal(true);
    expect(await claim()).to.equal(undefined);
  });

  it('begin for the holder of the lease alone, and once', async () => {
    const lost = await claimed(0);
    const holder = (await claim())!;
    expect(await beginInvocation(test.database, lost, 60)).to.equal(false);
    expect(await stateOf(lost)).to.equal('waiting');
    expect(await beginInvocation(test.database, holder, 60)).to.equal(true);
    expect(await beginInvocation(test.database, holder, 60)).to.equal(false);
    expect(await stateOf(holder)).to.equal('running');
  });

  it('that had begun are found so by the next, and the first holder cannot end them', async () => {
    const lost = await claimed();
    await beginInvocation(test.database, lost, 60);
    await lapse();
    expect(await claim()).to.include({ id: lost.id, state: 'running' });
    expect(await endInvocation(test.database, lost, RESULT, 60)).to.equal(false);
    expect(await postponeInvocation(test.database, lost, NOW)).to.equal(false);
    expect(await stateOf(lost)).to.equal('running');
  });

  it('that found no instance wait again', async () => {
    const holder = await claimed();
    await beginInvocation(test.database, holder, 60);
    expect(await postponeInvocation(test.database, holder, NOW)).to.equal(true);
    expect(await claim()).to.include({ id: holder.id, state: 'waiting' });
  });

  it('that have ended keep their result and no arguments; then they are delivered, and keep no address', async () => {
    const holder = await claimed();
    await endInvocation(test.database, holder, RESULT, 60);
    const ended = (await getInvocation(test.database, holder))!;
    expect(ended).to.include({ state: 'done', args: null });
    expect([ended.result, ended.callbackUrl]).to.deep.equal([RESULT, Buffer.from('sealed URL')]);
    expect(await claim()).to.equal(undefined);
    const delivery = (await claim({ stage: 'deliver' }))!;
    expect(delivery).to.include({ id: holder.id, attempts: 1 });
    expect(await settleInvocation(test.database, holder, 'delivered')).to.equal(false);
    expect(await settleInvocation(test.database, delivery, 'delivered')).to.equal(true);
    expect(await getInvocation(test.database, holder)).to.include({ state: 'delivered', callbackUrl: null });
    await lapse();
    expect(await claim({ stage: 'deliver' }), 'delivered is not done').to.equal(undefined);
  });

  it('are refused past the limit of their tenant, until some have ended', async () => {
    const { invocation } = await accept(2);
    expect((await accept(2)).accepted).to.equal(true);
    expect((await accept(2)).accepted).to.equal(false);
    expect((await accept(2, await storedTenant(test.database))).accepted, 'of another tenant').to.equal(true);
    const logged = { text: 'select from logs where tenant_id = $1' };
    expect(await test.database.run(logged, [tenantId])).to.have.length(2);
    const first = (await claim())!;
    expect(first.id).to.equal(invocation.id);
    await endInvocation(test.database, first, RESULT, 60);
    expect((await accept(2)).accepted).to.equal(true);
  });

  it('are swept once past their retention, whatever has become of them', async () => {
    const [kept, past] = [await claimed(), await claimed()];
    await endInvocation(test.database, kept, RESULT, 60);
    await endInvocation(test.database, past, RESULT, 0);
    await accept();
    expect(await getInvocation(test.database, past)).to.equal(undefined);
    expect(await sweepInvocations(test.maintenance, 10)).to.equal(1);
    expect(await getInvocation(test.database, kept)).not.to.equal(undefined);
    expect(await sweepInvocations(test.maintenance, 10)).to.equal(0);
  });

  it('are counted while something is to be done about them', async () => {
    const [running, settled] = [await claimed(), await claimed()];
    await accept();
    await beginInvocation(test.database, running, 60);
    await endInvocation(test.database, settled, RESULT, 60);
    await settleInvocation(test.database, (await claim({ stage: 'deliver' }))!, 'given_up');
    await test.database.run({ text: `update reactor_invocations set created_at = now() - interval '90 s'` });
    const backlog = await readBacklog(test.maintenance);
    expect(backlog.map(({ state, count }) => [state, count]).sort()).to.deep.equal([
      ['running', 1],
      ['waiting', 1],
    ]);
    for (const { oldestSeconds } of backlog) expect(oldestSeconds).to.be.within(90, 100);
  });

  it('go with their tenant', async () => {
    for (let count = 0; count < 5; count++) await accept();
    await deleteTenant(test, tenantId, 2);
    const left = { text: 'select from reactor_invocations where tenant_id = $1' };
    expect(await test.database.run(left, [tenantId])).to.have.length(0);
  });

  it('and what signs them are found by indexes, however many have been delivered', async () => {
    await test.database.run(
      {
        text: `
          insert into reactor_invocations (tenant_id, invocation_id, reactor_id, application_id, trace_id, state,
            sealed_format, ended_at, expires_at)
          select $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', 'delivered', 2, now(),
            now() + interval '1 day'
          from generate_series(1, 20000)`,
      },
      [tenantId],
    );
    await test.database.run({ text: 'analyze reactor_invocations' });
    const plan = async (text: string) => JSON.stringify(await test.database.run({ text: `explain ${text}` }));
    const due = `select from reactor_invocations where state = any ('{waiting,running}') and due_at <= now()
      order by due_at limit 1`;
    expect(await plan(due))
      .to.include('reactor_invocations_due')
      .and.not.include('Seq Scan');
    const unended = `select from reactor_invocations where tenant_id = '${tenantId}' and expires_at is null limit 9`;
    expect(await plan(unended))
      .to.include('reactor_invocations_unended')
      .and.not.include('Seq Scan');
    const expiring = 'select from reactor_invocations where expires_at <= now() order by expires_at limit 9';
    expect(await plan(expiring))
      .to.include('reactor_invocations_expiring')
      .and.not.include('Seq Scan');
  });
});

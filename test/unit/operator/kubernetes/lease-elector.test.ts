import { expect } from 'chai';
import { createLeaseElector, leaseIdentity } from '../../../../src/operator/kubernetes/lease-elector.ts';
import type { LeaseElector } from '../../../../src/operator/kubernetes/lease-elector.ts';
import { leasePath } from '../../../../src/operator/kubernetes/lease.ts';
import type { Lease } from '../../../../src/operator/kubernetes/lease.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { createLeaseApi } from '../../../support/operator/lease-api.ts';
import type { LeaseApi } from '../../../support/operator/lease-api.ts';
import { createManualClock } from '../../../support/operator/manual-clock.ts';
import type { ManualClock } from '../../../support/operator/manual-clock.ts';

describe('the lease elector', () => {
  let api: LeaseApi;
  let clock: ManualClock;

  beforeEach(() => {
    api = createLeaseApi();
    clock = createManualClock(Date.parse('2026-01-01T00:00:00Z'));
  });

  /** `wallSkewMs`: by how much its wall clock is ahead. */
  function candidate(identity: string, { wallSkewMs = 0, random = 0 } = {}) {
    const changes: boolean[] = [];
    const elector = createLeaseElector({
      ...{ client: api.client, namespace: 'tokenkeep-system', name: 'tokenkeep-operator', identity },
      logger: silentLogger,
      clock: { ...clock, now: () => clock.now() + wallSkewMs },
      monotonicNow: () => clock.now(),
      random: () => random,
      onChange: (isLeading) => void changes.push(isLeading),
    });
    const state = { isLeading: false, lost: undefined as string | undefined };
    void elector.leading.then(() => (state.isLeading = true));
    void elector.lost.then(({ message }) => (state.lost = message));
    return { elector, state, changes };
  }

  async function started(identity: string, options = {}) {
    const made = candidate(identity, options);
    made.elector.start();
    await clock.advance(0);
    return made;
  }

  const stopAll = (...electors: LeaseElector[]) => Promise.all(electors.map((elector) => elector.stop()));

  it('makes the lease where there is none, in the form that other clients read', async () => {
    const { state, elector, changes } = await started('a');
    expect(state.isLeading).to.be.true;
    expect(changes).to.deep.equal([false, true]);
    expect(api.lease).to.deep.include({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
    expect(api.lease?.spec).to.deep.equal({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await elector.stop();
  });

  it('renews every 2 s, and keeps since when it leads', async () => {
    const { elector } = await started('a');
    await clock.advance(20_000);
    expect(api.lease?.spec).to.include({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:20.000000Z',
      leaseTransitions: 0,
    });
    await elector.stop();
  });

  it('waits while another renews, and takes over 15 s after it saw the last renewal', async () => {
    const first = await started('a');
    const second = await started('b');
    await clock.advance(60_000);
    expect(second.state.isLeading).to.be.false;

    // As a machine that loses its power: neither renews nor gives up.
    const lastRenewal = clock.now();
    api.edit({ holderIdentity: 'dead' });
    await clock.advance(14_000);
    expect(second.state.isLeading).to.be.false;
    await clock.advance(6_000);
    expect(second.state.isLeading).to.be.true;
    expect(api.lease?.spec).to.include({ holderIdentity: 'b', leaseTransitions: 1 });
    expect(Date.parse(api.lease?.spec?.acquireTime ?? '') - lastRenewal).to.be.within(15_000, 20_000);
    await stopAll(first.elector, second.elector);
  });

  for (const [what, wallSkewMs] of Object.entries({ behind: -3_600_000, ahead: 3_600_000 })) {
    it(`lets no candidate take over whose clock is an hour ${what}`, async () => {
      const first = await started('a', { wallSkewMs });
      const second = await started('b');
      await clock.advance(120_000);
      expect(first.state.lost).to.be.undefined;
      expect(second.state.isLeading).to.be.false;
      await stopAll(first.elector, second.elector);
    });
  }

  it('lets one of several candidates win', async () => {
    const candidates = [candidate('a'), candidate('b'), candidate('c')];
    for (const { elector } of candidates) elector.start();
    await clock.advance(60_000);
    expect(candidates.filter(({ state }) => state.isLeading)).to.have.length(1);
    await stopAll(...candidates.map(({ elector }) => elector));
  });

  it('gives the lease up when it stops, so that another leads at its next attempt', async () => {
    const first = await started('a');
    const second = await started('b');
    await first.elector.stop();
    expect(first.changes).to.deep.equal([false, true, false]);
    expect(api.lease?.spec).to.include({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(2_000);
    expect(second.state.isLeading).to.be.true;
    expect(api.lease?.spec).to.include({ leaseDurationSeconds: 15, leaseTransitions: 1 });
    expect(first.state.lost).to.be.undefined;
    await second.elector.stop();
  });

  it('gives the lease up where the stop falls into a renewal', async () => {
    const { elector, changes } = await started('a');
    const answer = api.delayAnswers();
    await clock.advance(2_000);
    const stopped = elector.stop();
    answer();
    await stopped;
    expect(api.lease?.spec).to.include({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(changes).to.deep.equal([false, true, false]);
  });

  it('neither keeps the lease nor leads where the stop falls into taking it', async () => {
    const { elector, state, changes } = candidate('a');
    const answers = [api.delayAnswers()];
    elector.start();
    await clock.advance(0);
    const askedSoFar = api.requests;
    answers.push(api.delayAnswers());
    answers[0]!();
    await clock.advance(0);
    expect(api.requests).to.equal(askedSoFar + 1);
    expect(api.lease?.spec?.holderIdentity).to.equal('a');
    const stopped = elector.stop();
    answers[1]!();
    await stopped;
    expect(api.lease?.spec?.holderIdentity).to.equal('');
    expect(state.isLeading).to.be.false;
    expect(changes).to.deep.equal([false]);
  });

  it('gives up nothing that it does not hold', async () => {
    const first = await started('a');
    const second = await started('b');
    await second.elector.stop();
    expect(api.lease?.spec?.holderIdentity).to.equal('a');
    await first.elector.stop();
  });

  for (const mood of ['away', 'silent'] as const) {
    it(`ends 10 s after its last renewal where the API is ${mood}, before another could lead`, async () => {
      const { state, elector, changes } = await started('a');
      const renewedAt = clock.now();
      api.mood = mood;
      await clock.advance(9_999);
      expect(state.lost).to.be.undefined;
      await clock.advance(1);
      expect(state.lost).to.include('could not be renewed in time');
      expect(clock.now() - renewedAt).to.equal(10_000);
      expect(changes).to.deep.equal([false, true, false]);

      api.mood = 'answers';
      const requests = api.requests;
      await clock.advance(60_000);
      await elector.stop();
      expect(api.requests).to.equal(requests);
      expect(api.lease?.spec?.holderIdentity).to.equal('a');
    });
  }

  it('goes on over an API that is away for less than that', async () => {
    const { state, elector } = await started('a');
    api.mood = 'silent';
    await clock.advance(4_000);
    api.mood = 'answers';
    await clock.advance(60_000);
    expect(state.lost).to.be.undefined;
    await elector.stop();
  });

  it('makes a lease again that was deleted while it leads', async () => {
    const { state, elector } = await started('a');
    api.lease = undefined;
    await clock.advance(2_000);
    expect(await api.client.read<Lease>(leasePath('tokenkeep-system'))).to.have.nested.property(
      'spec.holderIdentity',
      'a',
    );
    expect(state.lost).to.be.undefined;
    await elector.stop();
  });

  it('ends at once where somebody wrote another holder into the lease', async () => {
    const { state, elector } = await started('a');
    api.edit({ holderIdentity: 'somebody' });
    await clock.advance(2_000);
    expect(state.lost).to.include('somebody holds the lease');
    await elector.stop();
    expect(api.lease?.spec?.holderIdentity).to.equal('somebody');
  });

  it('keeps a lease that somebody labelled', async () => {
    const { state, elector } = await started('a');
    api.edit({});
    await clock.advance(30_000);
    expect(state.lost).to.be.undefined;
    await elector.stop();
  });

  it('asks with a pause of its own as a candidate: from 2 s to 4.4 s', async () => {
    const first = await started('a');
    const second = await started('b', { random: 0.999 });
    const requests = api.requests;
    await clock.advance(44_000);
    // 22 renewals, and 10 looks.
    expect(api.requests - requests).to.be.within(31, 33);
    await stopAll(first.elector, second.elector);
  });

  it('stops while the API keeps it waiting', async () => {
    const { elector } = await started('a');
    api.mood = 'silent';
    let hasStopped = false;
    void elector.stop().then(() => (hasStopped = true));
    await clock.advance(10_000);
    expect(hasStopped).to.be.true;
  });

  it('tells the runs of one pod apart', () => {
    expect(leaseIdentity('tokenkeep-operator-0')).to.match(/^tokenkeep-operator-0_.{36}$/);
    expect(leaseIdentity('pod')).not.to.equal(leaseIdentity('pod'));
  });
});

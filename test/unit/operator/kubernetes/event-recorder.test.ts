import { expect } from 'chai';
import { createEventRecorder } from '../../../../src/operator/kubernetes/event-recorder.ts';
import type { EventRecorder } from '../../../../src/operator/kubernetes/event-recorder.ts';
import type { EventToRecord, Regarding } from '../../../../src/operator/kubernetes/event-object.ts';
import { KubernetesError } from '../../../../src/platform/kubernetes/errors.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { createManualClock } from '../../../support/operator/manual-clock.ts';
import type { ManualClock } from '../../../support/operator/manual-clock.ts';

interface WrittenEvent {
  metadata: { name: string; namespace: string };
  note: string;
  series?: { count: number; lastObservedTime: string };
}

describe('the event recorder', () => {
  let clock: ManualClock;
  let recorder: EventRecorder;
  /** By name, as the API would hold them. */
  let held: Map<string, WrittenEvent>;
  let requests: string[];
  let results: string[];
  /** The status of every answer, while there is one; 0: no answer. */
  let refusal: number | undefined;

  beforeEach(() => {
    clock = createManualClock(Date.parse('2026-01-01T00:00:00Z'));
    held = new Map();
    requests = [];
    results = [];
    refusal = undefined;
    recorder = createEventRecorder({
      client: {
        create: <T>(_at: unknown, object: object) => {
          const event = object as WrittenEvent;
          return answer<T>('create', () => held.set(event.metadata.name, event));
        },
        mergePatch: <T>({ name = '' }: { name?: string }, patch: object) =>
          answer<T>('patch', () => {
            const event = held.get(name);
            if (event === undefined) throw failure(404);
            held.set(name, { ...event, ...patch });
          }),
      },
      ...{ instance: 'operator-0', logger: silentLogger, clock },
      onResult: (result) => void results.push(result),
    });
  });
  afterEach(async () => {
    const stopping = recorder.stop();
    await clock.advance(10_000);
    await stopping;
  });

  const failure = (status: number) =>
    new KubernetesError({ method: 'POST', path: '/events', ...(status === 0 ? {} : { status }) });

  async function answer<T>(request: string, act: () => unknown): Promise<T> {
    requests.push(request);
    await Promise.resolve();
    if (refusal !== undefined) throw failure(refusal);
    act();
    return {} as T;
  }

  const about = (name: string): Regarding => ({
    ...{
      apiVersion: 'tokenkeep.dev/v1alpha1',
      kind: 'Application',
      namespace: 'payments',
      name,
      uid: `uid-of-${name}`,
    },
  });
  const event = (reason = 'KeyCreated', message = 'Created the key'): EventToRecord => ({
    ...{ type: 'Normal', reason, message },
  });
  const all = () => [...held.values()];

  it('writes one event for the same thing of one object, and counts its repetitions', async () => {
    recorder.record(about('checkout'), event('DriftCorrected', 'the first'));
    for (let times = 0; times < 9; times += 1) {
      recorder.record(about('checkout'), event('DriftCorrected', `another ${times}`));
      await clock.advance(1_000);
    }
    await clock.advance(5_000);
    expect(all()).to.have.length(1);
    expect(all()[0]?.note).to.equal('the first');
    expect(all()[0]?.series).to.deep.equal({ count: 10, lastObservedTime: '2026-01-01T00:00:08.000000Z' });
    expect(requests.length).to.be.below(5);
  });

  it('keeps events of other objects, and of other reasons, apart', async () => {
    recorder.record(about('checkout'), event());
    recorder.record(about('refunds'), event());
    recorder.record(about('checkout'), event('KeyRotated'));
    await clock.advance(0);
    expect(all()).to.have.length(3);
  });

  it('tells the same as something new after six quiet minutes', async () => {
    recorder.record(about('checkout'), event());
    await clock.advance(360_001);
    recorder.record(about('checkout'), event());
    await clock.advance(5_000);
    expect(all()).to.have.length(2);
  });

  it('writes a new event where the API has dropped the one that was counted in', async () => {
    recorder.record(about('checkout'), event());
    await clock.advance(0);
    held.clear();
    recorder.record(about('checkout'), event());
    await clock.advance(5_000);
    expect(all()).to.have.length(1);
    expect(all()[0]?.series).to.be.undefined;
  });

  it('holds an object to 25 events at once and one in 5 minutes, and leaves the others alone', async () => {
    for (let reason = 0; reason < 30; reason += 1) recorder.record(about('noisy'), event(`Reason${reason}`));
    recorder.record(about('quiet'), event());
    await clock.advance(0);
    expect(all()).to.have.length(26);
    expect(results.filter((result) => result === 'suppressed')).to.have.length(5);

    await clock.advance(300_000);
    for (const reason of ['Later', 'LaterStill']) recorder.record(about('noisy'), event(reason));
    await clock.advance(0);
    expect(all()).to.have.length(27);
  });

  for (const status of [400, 403, 404, 409, 422]) {
    it(`counts an event that is refused with ${status}, and does not try it again`, async () => {
      refusal = status;
      recorder.record(about('checkout'), event());
      await clock.advance(600_000);
      expect(requests).to.deep.equal(['create']);
      expect(results).to.deep.equal(['refused']);
    });
  }

  for (const status of [0, 429, 500, 503]) {
    it(`tries an event again that ended with ${status === 0 ? 'no answer' : status}, and gives up in the end`, async () => {
      refusal = status;
      recorder.record(about('checkout'), event());
      await clock.advance(2_000);
      refusal = undefined;
      await clock.advance(30_000);
      expect(results).to.deep.equal(['written']);
      expect(all()).to.have.length(1);

      refusal = status;
      recorder.record(about('refunds'), event());
      await clock.advance(600_000);
      expect(results).to.deep.equal(['written', 'dropped']);
    });
  }

  it('keeps no more than it may while the API is away, and never lets its caller wait', async () => {
    refusal = 0;
    for (let number = 0; number < 6_000; number += 1) recorder.record(about(`application-${number}`), event());
    expect(results.filter((result) => result === 'dropped').length).to.be.within(1_900, 1_910);
  });

  it('writes what it has counted when it stops, and takes nothing after', async () => {
    recorder.record(about('checkout'), event());
    recorder.record(about('checkout'), event());
    await recorder.stop();
    expect(all()[0]?.series?.count).to.equal(2);
    recorder.record(about('checkout'), event('KeyRotated'));
    await clock.advance(60_000);
    expect(all()).to.have.length(1);
  });

  it('stops within seconds while the API is away', async () => {
    refusal = 0;
    for (const name of ['checkout', 'refunds']) recorder.record(about(name), event());
    let hasStopped = false;
    void recorder.stop().then(() => (hasStopped = true));
    await clock.advance(3_000);
    expect(hasStopped).to.be.true;
  });

  it('cuts what is longer than the API takes', async () => {
    recorder.record(about('checkout'), event('Long', 'ü'.repeat(2_000)));
    await clock.advance(0);
    expect(Buffer.byteLength(all()[0]?.note ?? '')).to.be.within(1_000, 1_024);
    expect(all()[0]?.note).to.match(/^ü+…$/);
  });

  it('names an event after its object, within the length of a name', async () => {
    recorder.record(about('checkout'), event());
    recorder.record(about('c'.repeat(253)), event());
    await clock.advance(0);
    expect(all()[0]?.metadata.name).to.match(/^checkout\.[0-9a-f]{16}$/);
    expect(all()[1]?.metadata.name).to.have.length(253);
  });

  it('writes events about cluster-scoped objects into the namespace default', async () => {
    recorder.record({ ...about('acme'), kind: 'Tenant', namespace: '' }, event());
    await clock.advance(0);
    expect(all()[0]?.metadata.namespace).to.equal('default');
    expect(all()[0]).to.have.property('regarding').that.does.not.have.property('namespace');
  });
});

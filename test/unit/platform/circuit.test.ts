import { expect } from 'chai';
import { type Circuit, createCircuit, HOLD_OFF_MS } from '../../../src/platform/circuit.ts';

describe('the circuit to a service that may be away', () => {
  let now: number;
  let probes: PromiseWithResolvers<void>[];
  let changes: boolean[];
  let circuit: Circuit;

  beforeEach(() => {
    now = 1_000;
    probes = [];
    changes = [];
    circuit = createCircuit({
      now: () => now,
      onChange: (isUp) => changes.push(isUp),
      ask() {
        const probe = Promise.withResolvers<void>();
        probes.push(probe);
        return probe.promise;
      },
    });
  });

  async function answered(): Promise<void> {
    const done = circuit.probe();
    probes.at(-1)!.resolve();
    await done;
  }

  it('is down until a probe is answered, which is told once', async () => {
    expect(circuit.isUp).to.equal(false);
    await answered();
    expect(circuit.isUp).to.equal(true);
    await circuit.probe();
    expect(probes).to.have.length(1);
    expect(changes).to.deep.equal([true]);
  });

  it('is down from the first failure on, which is told once however many follow', async () => {
    await answered();
    circuit.trip();
    circuit.trip();
    expect(circuit.isUp).to.equal(false);
    expect(changes).to.deep.equal([true, false]);
  });

  it('tells that it is down where nothing was ever up', () => {
    circuit.trip();
    expect(changes).to.deep.equal([false]);
  });

  it('asks nothing for a while after a failure, and then again', async () => {
    await answered();
    circuit.trip();
    now += HOLD_OFF_MS - 1;
    await circuit.probe();
    expect(probes).to.have.length(1);
    now += 1;
    await answered();
    expect(probes).to.have.length(2);
    expect(circuit.isUp).to.equal(true);
  });

  it('sends one probe at a time', async () => {
    const first = circuit.probe();
    await circuit.probe();
    expect(probes).to.have.length(1);
    probes[0]!.reject(new Error('no answer'));
    await first;
    expect(circuit.isUp).to.equal(false);
    await answered();
    expect(circuit.isUp).to.equal(true);
  });

  it('does not come up by an answer to a probe from before a failure', async () => {
    const early = circuit.probe();
    circuit.trip();
    probes[0]!.resolve();
    await early;
    expect(circuit.isUp).to.equal(false);
  });
});

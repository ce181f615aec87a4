import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createSlots, type Slots } from '../../../../src/keys/transit/slots.ts';
import { rejection } from '../../../support/rejection.ts';

describe('slots', () => {
  let slots: Slots;
  let started: string[];
  let gates: Record<string, PromiseWithResolvers<string>>;

  beforeEach(() => {
    slots = createSlots({ running: 2, waiting: 2, refuse: () => new Error('full') });
    started = [];
    gates = {};
  });

  function run(name: string): Promise<string> {
    return slots.run(() => {
      started.push(name);
      gates[name] = Promise.withResolvers();
      return gates[name].promise;
    });
  }

  it('run so many at a time, and what waits in the order in which it came', async () => {
    const works = ['a', 'b', 'c', 'd'].map(run);
    expect(started).to.deep.equal(['a', 'b']);
    gates['b']!.resolve('done');
    await works[1];
    await turn();
    expect(started).to.deep.equal(['a', 'b', 'c']);
    gates['a']!.resolve('done');
    await works[0];
    await turn();
    expect(started).to.deep.equal(['a', 'b', 'c', 'd']);
    for (const name of ['c', 'd']) gates[name]!.resolve(name);
    expect(await Promise.all(works)).to.deep.equal(['done', 'done', 'c', 'd']);
  });

  it('refuse what would wait behind too many, and take it again once there is room', async () => {
    const works = ['a', 'b', 'c', 'd'].map(run);
    expect((await rejection(run('e'))).message).to.equal('full');
    for (const name of ['a', 'b']) gates[name]!.resolve(name);
    await Promise.all(works.slice(0, 2));
    await turn();
    for (const name of ['c', 'd']) gates[name]!.resolve(name);
    await Promise.all(works);
    const late = run('f');
    gates['f']!.resolve('f');
    expect(await late).to.equal('f');
  });

  it('are given back by what fails', async () => {
    for (let round = 0; round < 5; round++) {
      await rejection(slots.run(() => Promise.reject(new Error('failure'))));
    }
    const works = ['a', 'b'].map(run);
    expect(started).to.deep.equal(['a', 'b']);
    for (const name of ['a', 'b']) gates[name]!.resolve(name);
    await Promise.all(works);
  });
});

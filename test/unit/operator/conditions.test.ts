import { expect } from 'chai';
import {
  conditionsOf,
  firstConditions,
  pausedConditions,
  ready,
  stalled,
  waiting,
} from '../../../src/operator/conditions.ts';

describe('conditions', () => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();

  it('show Ready alone while all is well, and Reconciling or Stalled only while they hold', () => {
    const types = (outcome: Parameters<typeof conditionsOf>[0]) =>
      conditionsOf(outcome, 1, [], 0).map(({ type, status }) => `${type}=${status}`);
    expect(types(ready('fine'))).to.deep.equal(['Ready=True']);
    expect(types(waiting('TenantNotReady', 'soon'))).to.deep.equal(['Ready=False', 'Reconciling=True']);
    expect(types(stalled('ApiRefused', 'no'))).to.deep.equal(['Ready=False', 'Stalled=True']);
  });

  it('keep the time of a transition while the status stays, whatever reason and generation do', () => {
    const first = conditionsOf(waiting('TenantNotReady', 'soon'), 1, [], 1_000);
    const second = conditionsOf(stalled('ApiRefused', 'no'), 2, first, 2_000);
    expect(second[0]).to.include({ lastTransitionTime: at(1), observedGeneration: 2, reason: 'ApiRefused' });
    const third = conditionsOf(ready('fine'), 2, second, 3_000);
    expect(third[0]).to.include({ status: 'True', lastTransitionTime: at(3) });
  });

  it('say of a resource that is looked at for the first time that nothing is known, and that it is worked on', () => {
    const first = firstConditions(3, 1_000);
    expect(first.map(({ type, status }) => `${type}=${status}`)).to.deep.equal(['Ready=Unknown', 'Reconciling=True']);
    expect(first[0]).to.include({ observedGeneration: 3, lastTransitionTime: at(1), reason: 'Reconciling' });
    const second = conditionsOf(ready('fine'), 3, first, 2_000);
    expect(second.map(({ type, status }) => `${type}=${status}`)).to.deep.equal(['Ready=True']);
    expect(second[0]).to.include({ lastTransitionTime: at(2) });
  });

  it('keep what was found of a paused resource, and say Unknown of one never looked at', () => {
    const found = conditionsOf(ready('fine'), 1, [], 1_000);
    const paused = pausedConditions(2, found, 2_000);
    expect(paused.map(({ type, status }) => `${type}=${status}`)).to.deep.equal(['Ready=True', 'Paused=True']);
    expect(pausedConditions(2, paused, 3_000)).to.deep.equal(paused);
    expect(pausedConditions(1, [], 0)[0]).to.include({ type: 'Ready', status: 'Unknown', reason: 'Paused' });
  });
});

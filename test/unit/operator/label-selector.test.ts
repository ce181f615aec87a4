import { expect } from 'chai';
import { matchesLabels } from '../../../src/operator/label-selector.ts';
import type { LabelRequirement, LabelSelector } from '../../../src/operator/label-selector.ts';

describe('a label selector', () => {
  const labels = { stage: 'live', team: '' };

  const cases: [LabelSelector, boolean][] = [
    [{}, true],
    [{ matchLabels: { stage: 'live' } }, true],
    [{ matchLabels: { stage: 'test' } }, false],
    [{ matchLabels: { stage: 'live', team: '' } }, true],
    [{ matchLabels: { stage: 'live', owner: '' } }, false],
    [{ matchLabels: { stage: 'live' }, matchExpressions: [{ key: 'owner', operator: 'Exists' }] }, false],
  ];
  for (const [selector, expected] of cases) {
    it(`${JSON.stringify(selector)} ${expected ? 'is met' : 'is not met'}`, () => {
      expect(matchesLabels(selector, labels)).to.equal(expected);
    });
  }

  const requirements: [LabelRequirement, boolean][] = [
    [{ key: 'stage', operator: 'In', values: ['test', 'live'] }, true],
    [{ key: 'stage', operator: 'In', values: ['test'] }, false],
    [{ key: 'owner', operator: 'In', values: ['live'] }, false],
    [{ key: 'stage', operator: 'NotIn', values: ['test'] }, true],
    [{ key: 'stage', operator: 'NotIn', values: ['live'] }, false],
    [{ key: 'owner', operator: 'NotIn', values: ['live'] }, true],
    [{ key: 'team', operator: 'Exists' }, true],
    [{ key: 'owner', operator: 'Exists' }, false],
    [{ key: 'owner', operator: 'DoesNotExist' }, true],
    [{ key: 'team', operator: 'DoesNotExist' }, false],
    [{ key: 'constructor', operator: 'Exists' }, false],
  ];
  for (const [requirement, expected] of requirements) {
    it(`with ${JSON.stringify(requirement)} ${expected ? 'is met' : 'is not met'}`, () => {
      expect(matchesLabels({ matchExpressions: [requirement] }, labels)).to.equal(expected);
    });
  }
});

import { expect } from 'chai';
import type { Condition } from '../../../../src/domain/resource-status.ts';
import { buildStatusCleanup } from '../../../../src/operator/sources/kubernetes/status-cleanup.ts';

const condition = (type: Condition['type']) => ({
  ...{ type, status: 'True' as const, reason: 'Any', message: '', observedGeneration: 1 },
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const ours = { observedGeneration: 1, conditions: [condition('Ready')] };

describe('the cleanup of a status', () => {
  it('is none where the status is ours alone, or less than ours', () => {
    expect(buildStatusCleanup(ours, ours)).to.be.undefined;
    expect(buildStatusCleanup(undefined, ours)).to.be.undefined;
    expect(buildStatusCleanup({ conditions: [] }, ours)).to.be.undefined;
  });

  it('takes out fields and conditions of others', () => {
    const answered = { ...ours, binding: { name: 'theirs' }, conditions: [condition('Ready'), condition('Stalled')] };
    expect(buildStatusCleanup(answered, ours)).to.deep.equal({ binding: null, conditions: ours.conditions });
  });
});

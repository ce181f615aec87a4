import { expect } from 'chai';
import { desiredReplicas } from '../../../src/operator/scaling.ts';

describe('the number of replicas', () => {
  const scaling = { minReplicas: 1, maxReplicas: 5, concurrency: 2, idleSeconds: 60 };
  const decide = (demand: number, replicas: number, quietSeconds = 0, overrides = {}) =>
    desiredReplicas({ ...scaling, ...overrides }, { demand, replicas, lastDemandAt: 0 }, quietSeconds * 1000);

  it('follows the demand up at once, within its bounds', () => {
    expect(decide(0, 1)).to.equal(1);
    expect(decide(3, 1)).to.equal(2);
    expect(decide(9, 1)).to.equal(5);
    expect(decide(1_000, 1)).to.equal(5);
  });

  it('stays while the demand falls, and goes to the minimum once it has been idle', () => {
    expect(decide(1, 4)).to.equal(4);
    expect(decide(0, 4, 59.9)).to.equal(4);
    expect(decide(0, 4, 60)).to.equal(1);
    expect(decide(0, 4, 60, { minReplicas: 0 })).to.equal(0);
  });

  it('starts from none with the first call, and follows bounds that change', () => {
    expect(decide(1, 0, 0, { minReplicas: 0 })).to.equal(1);
    expect(decide(0, 0, 0, { minReplicas: 3 })).to.equal(3);
    expect(decide(9, 5, 0, { maxReplicas: 2 })).to.equal(2);
  });
});

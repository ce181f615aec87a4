import { expect } from 'chai';
import type { ReactorDemand } from '../../../src/domain/declarations.ts';
import { sumDemand } from '../../../src/operator/demand-totals.ts';

describe('the demand at all replicas of the API together', () => {
  const demand = (stable: number, panic: number, overrides: Partial<ReactorDemand> = {}): ReactorDemand => ({
    ...{ tenantId: 't', reactorId: 'r', inFlight: 0, waiting: 0 },
    average: { stable, panic },
    ...overrides,
  });

  it('is the sum of what each tells, by tenant and reactor', () => {
    const reports = [
      { at: 1_000, demands: [demand(1, 2), demand(8, 8, { tenantId: 'other' })] },
      { at: 1_000, demands: [demand(0.5, 3)] },
    ];
    const of = sumDemand(reports, 1_000);
    expect(of?.('t', 'r')).to.deep.equal({ average: { stable: 1.5, panic: 5 }, isWhole: true });
    expect(of?.('other', 'r').average).to.deep.equal({ stable: 8, panic: 8 });
    expect(of?.('t', 'quiet')).to.deep.equal({ average: { stable: 0, panic: 0 }, isWhole: true });
  });

  it('counts what one told before for 10 s, and is not whole after that', () => {
    const reports = [
      { at: 12_000, demands: [demand(1, 1)] },
      { at: 2_000, demands: [demand(4, 4)] },
    ];
    expect(sumDemand(reports, 11_999)?.('t', 'r')).to.deep.equal({ average: { stable: 5, panic: 5 }, isWhole: true });
    expect(sumDemand(reports, 12_000)?.('t', 'r')).to.deep.equal({ average: { stable: 1, panic: 1 }, isWhole: false });
  });

  it('is not whole while one has told nothing yet', () => {
    expect(sumDemand([{ at: 0, demands: [] }, undefined], 0)?.('t', 'r').isWhole).to.equal(false);
  });

  it('is not known where none has told of late, nor where there is no replica', () => {
    expect(sumDemand([], 0)).to.equal(undefined);
    expect(sumDemand([undefined], 0)).to.equal(undefined);
    expect(sumDemand([{ at: 0, demands: [demand(1, 1)] }], 10_000)).to.equal(undefined);
  });

  it('says of a failure at any of them', () => {
    const reports = [
      { at: 0, demands: [demand(1, 1)] },
      { at: 0, demands: [demand(1, 1, { failure: 'crashed' })] },
    ];
    expect(sumDemand(reports, 0)?.('t', 'r').failure).to.equal('crashed');
    expect(sumDemand(reports, 0)?.('t', 'quiet')).not.to.have.property('failure');
  });
});

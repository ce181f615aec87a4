import { expect } from 'chai';
import { createReactorClient } from '../../../src/reactors/client.ts';
import { demandFigure } from '../../../src/services/reactors/demand-figure.ts';

describe('the figure of demand that other autoscalers read', () => {
  it('is what runs and waits at this replica, and 0 for a reactor that has no demand or is not known', async () => {
    const client = createReactorClient({ maxWaitMs: 60_000 });
    const at = (tenantId: string, reactorId: string) => `/reactors/${tenantId}/${reactorId}/demand`;
    const invocation = { revision: 'r1', args: null, traceId: 'trace', timeoutMs: 30_000 };
    const held = [1, 2].map(() => client.invoke({ tenantId: 't', reactorId: 'r', ...invocation }));
    expect(demandFigure({ client }, at('t', 'r'))?.average).to.be.closeTo(2, 0.5);
    expect(demandFigure({ client }, at('t', 'other'))).to.deep.equal({ average: 0 });
    expect(demandFigure({ client }, at('other', 'r'))).to.deep.equal({ average: 0 });
    for (const path of ['/', '/reactors', '/reactors/t/r', '/reactors/t/r/demand/more', '/metrics']) {
      expect(demandFigure({ client }, path)).to.equal(undefined);
    }
    await client.stop();
    await Promise.all(held);
  });
});

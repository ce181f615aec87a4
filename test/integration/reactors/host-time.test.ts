import { expect } from 'chai';
import ivm from 'isolated-vm';
import { createMeter } from '../../../src/reactors/host/child/entries.ts';
import { openGuestContext } from '../../../src/reactors/host/child/guest-context.ts';
import { guestProgram } from '../../../src/reactors/host/guest-program.ts';

const CALLS = 10;
const MS_EACH = 20;

describe('the time of the host', function () {
  this.timeout(20_000);

  it('that code has computed for it is its own: signatures cost it what they cost', async () => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    const code = `(function (module) { module.exports = () => {
      for (let call = 0; call < ${CALLS}; call += 1) crypto.randomUUID();
    } })`;
    const programs = {
      guest: await isolate.compileScript(guestProgram()),
      code: await isolate.compileScript(code),
    };
    const context = await openGuestContext(isolate, programs, createMeter(isolate, 5_000));
    let calls = 0;
    let overruns = 0;
    const compute = (operation: string): string => {
      if (operation !== 'uuid') return '';
      calls += 1;
      for (const begun = performance.now(); performance.now() - begun < MS_EACH;);
      return 'id';
    };
    context.connect(compute, () => (overruns += 1));
    const budget = { leftMs: 1_000 };
    await context.begin('start', '', '{"args":{},"configuration":{}}', budget);
    expect([calls, overruns]).to.deep.equal([CALLS, 0]);
    expect(budget.leftMs).to.be.below(1_000 - CALLS * MS_EACH);
    isolate.dispose();
  });
});

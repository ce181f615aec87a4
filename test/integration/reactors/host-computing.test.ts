import { expect } from 'chai';
import { BODY_RUNNER, createReactorHarness } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';
import { slowKey } from '../../support/reactors/slow-key.ts';
import { INVOCATION_LIMITS } from '../../../src/reactors/types.ts';

const MOST_ROUNDS = 2 ** 31 - 1;
/** Some hundred ms of a core. */
const SOME_ROUNDS = 300_000;
/** Until it is noticed, and for a machine that is busy. */
const NOTICED_MS = 6_000;
const WALL_MS = 25_000;

/** What the host computes for code, in a thread that is not the isolate's: no timer of the isolate ends it. */
describe('what code has the host compute', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  let good: DeployedReactor;
  let hostile: DeployedReactor;

  before(async () => {
    reactors = createReactorHarness();
    good = await reactors.deploy('module.exports = async (req) => ({ raw: req.args.a })');
    hostile = await reactors.deploy(BODY_RUNNER, { timeoutSeconds: 30 });
  });
  after(() => reactors.stop());

  const use = (then: string): string => `const { sign } = require('crypto');
    const use = () => { try { sign('sha256', Buffer.from('x'), { key: req.args.key, passphrase: 'x' }) } catch (error) { return error.code } };
    ${then}`;

  async function attack(body: string, rounds: number): Promise<{ kind: string; ms: number }> {
    const begun = performance.now();
    const attacking = hostile.invoke({ body: use(body), key: slowKey(rounds) }, { timeoutMs: WALL_MS });
    let over = false;
    void attacking.then(() => (over = true));
    for (let a = 0; !over; a += 1) {
      expect(await good.invoke({ a })).to.deep.equal({ kind: 'returned', raw: a });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { kind: (await attacking).kind, ms: performance.now() - begun };
  }

  it('is answered where it is short: the key is read, and the password tried', async () => {
    expect(await hostile.invoke({ body: use('return { raw: use() }'), key: slowKey(1_000) })).to.deep.equal({
      kind: 'returned',
      raw: 'ERR_OSSL_BAD_DECRYPT',
    });
  });

  for (const [name, body, rounds] of [
    ['one key of two thousand million rounds', 'use(); return {}', MOST_ROUNDS],
    ['key after key, each of them short', 'for (;;) use()', SOME_ROUNDS],
  ] as const) {
    it(`ends with the time of a stretch, while another reactor answers: ${name}`, async () => {
      const { kind, ms } = await attack(body, rounds);
      expect(kind).to.equal('timed-out');
      expect(ms).to.be.within(INVOCATION_LIMITS.sliceMs - 100, INVOCATION_LIMITS.sliceMs + NOTICED_MS);
      expect(await hostile.invoke({ body: 'return { raw: 1 }' })).to.deep.equal({ kind: 'returned', raw: 1 });
    });
  }
});

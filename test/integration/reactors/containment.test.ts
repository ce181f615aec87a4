import { expect } from 'chai';
import type { FailureKind } from '../../../src/reactors/types.ts';
import { createReactorHarness } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';

interface Attack {
  code: string;
  /** Every outcome that is a containment; which of them depends on what V8 notices first. */
  kinds: (FailureKind | 'returned' | 'threw')[];
}

const inFunction = (body: string): string => `module.exports = async function (req) { ${body} }`;

const ATTACKS: Record<string, Attack> = {
  'an endless loop': { code: inFunction('while (1);'), kinds: ['timed-out'] },
  'an endless chain of microtasks': {
    code: inFunction('const spin = () => Promise.resolve().then(spin); await spin()'),
    kinds: ['timed-out', 'out-of-memory', 'crashed'],
  },
  'a promise that never settles': { code: inFunction('await new Promise(() => {})'), kinds: ['timed-out'] },
  'an endless loop in a timer': {
    code: inFunction('await new Promise(() => setTimeout(() => { while (1); }, 1))'),
    kinds: ['timed-out'],
  },
  'a thrown error whose message loops': {
    code: inFunction('throw { get message() { while (1); }, get stack() { while (1); } }'),
    kinds: ['timed-out'],
  },
  'a result whose getter loops': {
    code: inFunction('return { get raw() { while (1); } }'),
    kinds: ['timed-out'],
  },
  'a regular expression that backtracks': {
    code: inFunction(`return { raw: /^(a+)+$/.test('a'.repeat(40) + 'b') }`),
    kinds: ['timed-out'],
  },
  'a growing array': {
    code: inFunction('const all = []; while (1) all.push(new Array(1e4).fill(1))'),
    kinds: ['out-of-memory', 'crashed', 'timed-out'],
  },
  'a growing string': {
    code: inFunction(`let text = 'x'; const all = []; while (1) { text += text; all.push(text.split('')) }`),
    kinds: ['out-of-memory', 'crashed', 'timed-out', 'threw'],
  },
  'a growing Map': {
    code: inFunction('const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })'),
    kinds: ['out-of-memory', 'crashed', 'timed-out', 'threw'],
  },
  'array buffers outside the heap': {
    code: inFunction('const all = []; while (1) all.push(new Uint8Array(1e7).fill(1))'),
    kinds: ['out-of-memory', 'crashed', 'threw', 'timed-out'],
  },
  'one array of a thousand million': {
    code: inFunction('return { raw: Array(1e9).fill(0).length }'),
    kinds: ['out-of-memory', 'crashed', 'timed-out', 'threw'],
  },
  'a huge BigInt in decimal': {
    code: inFunction('return { raw: (2n ** 30000000n).toString().length }'),
    kinds: ['out-of-memory', 'crashed', 'timed-out', 'threw'],
  },
  'a result of 500 MB': {
    code: inFunction(`return { raw: 'x'.repeat(5e8) }`),
    kinds: ['result-too-large', 'invalid-result', 'out-of-memory', 'crashed', 'timed-out'],
  },
  'a result just over the limit': {
    code: inFunction(`return { raw: 'x'.repeat(1024 * 1024) }`),
    kinds: ['result-too-large'],
  },
  'a result nested too deeply to write': {
    code: inFunction('let raw = []; for (let i = 0; i < 1e6; i++) raw = [raw]; return { raw }'),
    kinds: ['invalid-result', 'crashed', 'out-of-memory', 'timed-out'],
  },
  'a result nested too deeply to read': {
    code: inFunction(
      `return { raw: { toJSON: () => { let raw = []; for (let i = 0; i < 2000; i++) raw = [raw]; return raw } } }`,
    ),
    kinds: ['invalid-result'],
  },
  'JSON of five million levels': {
    code: inFunction(`return { raw: JSON.parse('['.repeat(5e6) + ']'.repeat(5e6)).length }`),
    kinds: ['out-of-memory', 'crashed', 'timed-out', 'threw'],
  },
  'a flood of timers': {
    code: inFunction('for (let i = 0; ; i++) setTimeout(() => {}, 1e6)'),
    kinds: ['threw'],
  },
  'endless recursion': { code: inFunction('const f = () => f() + 1; return { raw: f() }'), kinds: ['threw'] },
};

describe('containment of a hostile reactor', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  let good: DeployedReactor;

  before(async () => {
    reactors = createReactorHarness();
    good = await reactors.deploy('module.exports = async (req) => ({ raw: { sum: req.args.a + req.args.b } })');
  });
  after(() => reactors.stop());

  for (const [name, { code, kinds }] of Object.entries(ATTACKS)) {
    it(`holds ${name}, while another reactor answers`, async () => {
      const hostile = await reactors.deploy(code.replace('{', `{ if (req.args.behave) return { raw: 'fine' };`), {
        // What takes memory needs the time to run out of it.
        timeoutSeconds: kinds.every((kind) => kind === 'timed-out') ? 0.4 : 1,
      });
      const attack = hostile.invoke();
      let over = false;
      void attack.then(() => (over = true));
      for (let a = 0; !over || a < 3; a += 1) {
        expect(await good.invoke({ a, b: 1 })).to.deep.equal({ kind: 'returned', raw: { sum: a + 1 } });
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await attack).kind).to.be.oneOf(kinds);
      expect(await hostile.invoke({ behave: true })).to.deep.equal({ kind: 'returned', raw: 'fine' });
      await reactors.runtime.remove(hostile.workload.tenantId, hostile.workload.reactorId);
    });
  }
});

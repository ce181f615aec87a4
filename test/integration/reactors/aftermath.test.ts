import { expect } from 'chai';
import { descendantsOf } from '../../support/processes.ts';
import { BODY_RUNNER, createReactorHarness } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';

/** Ways to go on once memory has been refused: `all` is still held at the end. */
const HOGS: Record<string, string> = {
  'array buffers': 'all.push(new ArrayBuffer(1e7))',
  'array buffers that were written to': 'all.push(new Uint8Array(4e6).fill(1))',
  'small array buffers': 'all.push(new ArrayBuffer(1e5))',
};
/** Runs after the harness has taken the answer: the turns of the queue in between are those of its own `await`. */
const AFTER_THE_ANSWER = (what: string): string => `
  let turns = 0;
  const next = () => { if ((turns += 1) < 10) return queueMicrotask(next); ${what} };
  queueMicrotask(next);
  return { raw: 'answered' };`;
/** Wants some memory itself. */
const GOOD = `return { raw: new Array(2e5).fill('x').map((x, at) => x + at).join('').length }`;
const GOOD_ANSWER = { kind: 'returned', raw: 1_288_890 };
/** Its garbage has V8 plan collections, by timers of which isolated-vm makes threads. */
const MANY_TIMERS = `await new Promise((to) => setTimeout(to, 5));
  return { raw: require('crypto').createHash('sha256').update(JSON.stringify(['x'.repeat(1e6) + 1])).digest('hex') }`;

describe('what a reactor leaves to its next request', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  let reactor: DeployedReactor;

  beforeEach(async () => {
    reactors = createReactorHarness();
    reactor = await reactors.deploy(BODY_RUNNER, { timeoutSeconds: 3 });
  });
  afterEach(() => reactors.stop());

  const run = (body: string) => reactor.invoke({ body });
  const processes = (): number[] => descendantsOf(process.pid).map(({ pid }) => pid);

  for (const [name, hog] of Object.entries(HOGS)) {
    it(`is memory, also after code that went on when it was refused more ${name}`, async () => {
      for (let round = 0; round < 3; round += 1) {
        const outcome = await run(
          `const all = []; try { for (;;) { ${hog} } } catch {} return { raw: all.length > 0 }`,
        );
        expect(outcome).to.deep.equal({ kind: 'returned', raw: true });
        expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
      }
    });
  }

  it('is memory, also after a timer that was refused more and did not catch it', async () => {
    for (let round = 0; round < 4; round += 1) {
      const outcome = await run(
        'const all = []; setInterval(() => all.push(new Uint8Array(1e7).fill(1)), 0); await new Promise(() => {})',
      );
      expect(outcome.kind).to.equal('threw');
      expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
    }
  });

  it('is its time: code that goes on after its answer is held to its own', async () => {
    const outcome = await run(AFTER_THE_ANSWER('for (;;);'));
    const begun = performance.now();
    expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
    expect(performance.now() - begun).to.be.below(2_000);
    expect(outcome).to.deep.equal({ kind: 'timed-out' });
  });

  it('is memory, also after code that takes it when it has answered', async () => {
    const outcome = await run(
      AFTER_THE_ANSWER('globalThis.all = []; try { for (;;) all.push(new ArrayBuffer(1e6)) } catch {}'),
    );
    expect(outcome).to.deep.equal({ kind: 'returned', raw: 'answered' });
    expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
  });

  it('is nothing of timers that were due with the answer', async () => {
    // All of them come due in one turn; the first one answers.
    const body = `const due = Date.now() + 20;
      return new Promise((resolve) => {
        for (let i = 0; i < 50; i += 1) setTimeout(() => { resolve({ raw: i }); while (Date.now() < due + 60); }, 20);
      });`;
    expect(await run(body)).to.deep.equal({ kind: 'returned', raw: 0 });
    expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
  });

  it('is the same process, where there is memory left in it', async () => {
    await run(GOOD);
    const before = processes();
    for (let round = 0; round < 10; round += 1) expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
    expect(processes()).to.deep.equal(before);
  });

  it('is the same process under many requests in a row, which V8 sets timers for', async () => {
    // Such a thread stays for as long as a run may compute.
    reactor = await reactors.deploy(BODY_RUNNER, { timeoutSeconds: 10, memoryBytes: 256 * 2 ** 20 });
    const before = processes();
    for (let round = 0; round < 30; round += 1) {
      expect(await run(MANY_TIMERS)).to.have.nested.property('raw.length', 64);
      expect(processes(), `after ${round} requests`).to.deep.equal(before);
    }
  });
});

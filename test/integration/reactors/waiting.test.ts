import { expect } from 'chai';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_SCALING } from '../../../src/domain/declarations.ts';
import type { Json } from '../../../src/domain/json.ts';
import { Instance } from '../../../src/reactors/host/instance.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';
import { eventually } from '../../support/eventually.ts';
import { BODY_RUNNER, workloadOf } from '../../support/reactors.ts';

const LIMIT_MS = 500;
/** Beyond its limit, that the answer may take on a machine that is busy. */
const LATE_MS = 1_500;
const TIMED_OUT = { kind: 'timed-out' };
const WAIT = 'await new Promise((resolve) => setTimeout(resolve, req.args.ms)); return { raw: "waited" }';
const WAITED = { kind: 'returned', raw: 'waited' };
const FOR_EVER = 'await new Promise(() => {})';
/** Wants some memory itself. */
const GOOD = `return { raw: new Array(2e5).fill('x').map((x, at) => x + at).join('').length }`;
const GOOD_ANSWER = { kind: 'returned', raw: 1_288_890 };
/** What a run can wait for at its limit. */
const WAITING: Record<string, string> = {
  'a promise that never settles': FOR_EVER,
  'an answer to fetch': 'await fetch(req.args.url)',
  'an answer to svc': 'await req.svc.tokens.list()',
  'a timer of a day': 'await new Promise((resolve) => setTimeout(resolve, 864e5))',
  'ten thousand promises': 'await Promise.all(Array.from({ length: 1e4 }, () => new Promise(() => {})))',
  'timers that go on and on': `for (let i = 0; i < 99; i += 1) setInterval(() => {}, 1); ${FOR_EVER}`,
};
const HOGS: Record<string, string> = {
  'array buffers': 'try { for (;;) all.push(new ArrayBuffer(1e6)) } catch {}',
  'more than half of the heap': 'for (let i = 0; i < 35; i += 1) all.push(new Array(1e5).fill(i))',
};

describe('a call of a reactor that only waits when its time is over', function () {
  this.timeout(60_000);
  let silent: Server;
  let instance: Instance;
  let stopped: string[];
  let lines: string[];

  before(async () => {
    silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await eventually(() => expect(silent.listening).to.equal(true));
  });
  after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  beforeEach(async () => {
    stopped = [];
    lines = [];
    instance = new Instance({
      workload: workloadOf(BODY_RUNNER, {
        scaling: { ...DEFAULT_SCALING, concurrency: 3 },
        egress: { allow: [`receiver.test:${portOf(silent)}`] },
      }),
      onStopped: (reason) => void stopped.push(reason),
      onLog: ({ message }) => void lines.push(message),
      network: { resolve: async () => ['127.0.0.1'], allowAddress: () => true },
    });
    expect(await instance.start()).to.equal(undefined);
  });
  afterEach(() => instance.kill());

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  async function run(body: string, ms = 0, timeoutMs = 10_000): Promise<InvocationOutcome> {
    await eventually(() => expect(instance.isFree).to.equal(true));
    const args: Json = { body, ms, url: `http://receiver.test:${portOf(silent)}/` };
    const svc = { baseUrl: `http://127.0.0.1:${portOf(silent)}`, headerPrefix: 'SVC', key: 'key' };
    return instance.invoke({ revision: '', args, svc, traceId: 'trace', timeoutMs });
  }

  for (const [name, body] of Object.entries(WAITING)) {
    it(`is closed alone, in time, and none beside it fails: ${name}`, async () => {
      const begun = performance.now();
      // Nothing of ours is in its way: it does not catch what fetch and svc tell it before its limit.
      const waiting = run(`try { ${body} } catch { ${FOR_EVER} }`, 0, LIMIT_MS).then((outcome) => ({
        outcome,
        ms: performance.now() - begun,
      }));
      const beside = [run(WAIT, LIMIT_MS + 300), run(WAIT, LIMIT_MS + 600)];
      const { outcome, ms } = await waiting;
      expect(outcome).to.deep.equal(TIMED_OUT);
      expect(ms).to.be.within(LIMIT_MS - 5, LIMIT_MS + LATE_MS);
      expect(await Promise.all(beside)).to.deep.equal([WAITED, WAITED]);
      expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
      expect(stopped).to.deep.equal([]);
    });
  }

  for (const [name, call] of [
    ['fetch', 'fetch(req.args.url)'],
    ['svc', 'req.svc.tokens.list()'],
  ] as const) {
    it(`has been told by then that ${name} got no answer, and can say so to its caller`, async () => {
      const outcome = await run(
        `const { ServiceUnavailableError } = require('@tokenkeep/errors');
         try { await ${call} } catch (error) { console.log(error.name); throw new ServiceUnavailableError('no answer') }`,
        0,
        2_000,
      );
      expect(outcome).to.deep.include({ kind: 'threw', status: 503 });
      expect(lines).to.deep.equal([name === 'fetch' ? 'TypeError' : 'ServiceUnavailableError']);
    });
  }

  it('leaves what it asked for to nobody: its requests are broken off', async () => {
    const closed = new Promise((resolve) => silent.once('request', ({ socket }) => socket.once('close', resolve)));
    expect(await run('fetch(req.args.url).catch(() => {}); await new Promise(() => {})', 0, LIMIT_MS)).to.deep.equal(
      TIMED_OUT,
    );
    await closed;
  });

  it('does nothing any more: its timers and what hangs on its promises are over', async () => {
    const body = `setInterval(() => console.log('on'), 20); ${FOR_EVER}`;
    expect(await run(body, 0, LIMIT_MS)).to.deep.equal(TIMED_OUT);
    expect(lines).to.include('on');
    const printed = lines.length;
    expect(await run(WAIT, 300)).to.deep.equal(WAITED);
    expect(lines).to.have.length(printed);
  });

  it('is not run at all when its time passes behind another that computes, which is not disturbed', async () => {
    const computing = run('const end = Date.now() + 1_500; while (Date.now() < end); return { raw: "computed" }');
    const late = run(`console.log('run after its end'); ${WAIT}`, 0, LIMIT_MS);
    expect(await late).to.deep.equal(TIMED_OUT);
    expect(await computing).to.deep.equal({ kind: 'returned', raw: 'computed' });
    expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
    expect([stopped, lines]).to.deep.equal([[], []]);
  });

  it('is closed in time while another one computes, which is not disturbed', async () => {
    const begun = performance.now();
    const waiting = run(FOR_EVER, 0, LIMIT_MS).then((outcome) => ({ outcome, ms: performance.now() - begun }));
    const computing = run('const end = Date.now() + 2_500; while (Date.now() < end); return { raw: "computed" }');
    const { outcome, ms } = await waiting;
    expect(outcome).to.deep.equal(TIMED_OUT);
    expect(ms).to.be.below(LIMIT_MS + LATE_MS);
    expect(await computing).to.deep.equal({ kind: 'returned', raw: 'computed' });
    expect(stopped).to.deep.equal([]);
  });

  it('is ended with its process where its last stretch is a loop', async () => {
    const begun = performance.now();
    expect(await run(`setTimeout(() => { for (;;); }, ${LIMIT_MS - 100}); ${FOR_EVER}`, 0, LIMIT_MS)).to.deep.equal(
      TIMED_OUT,
    );
    expect(performance.now() - begun).to.be.within(LIMIT_MS, LIMIT_MS + LATE_MS);
    expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
    expect(stopped).to.deep.equal(['timed-out']);
  });

  for (const [name, hog] of Object.entries(HOGS)) {
    it(`takes no memory from those after it, whatever it holds: ${name}`, async () => {
      for (let round = 0; round < 3; round += 1) {
        const outcome = await run(`globalThis.all = []; const { all } = globalThis; ${hog}; ${FOR_EVER}`, 0, 1_000);
        expect(outcome).to.deep.equal(TIMED_OUT);
        expect(await run(GOOD)).to.deep.equal(GOOD_ANSWER);
      }
      expect(stopped).to.deep.equal([]);
    });
  }
});

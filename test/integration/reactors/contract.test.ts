import { expect } from 'chai';
import { ERROR_CLASSES } from '../../../src/reactors/errors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';
import { useBodyRunner } from '../../support/reactors/use-body-runner.ts';

const inFunction = (body: string): string => `module.exports = async function (req) { ${body} }`;

describe('the contract of reactor code', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  let runner: DeployedReactor;
  useBodyRunner((made) => ({ reactors, runner } = made));

  const run = (body: string) => runner.invoke({ body });

  /** In a process of its own, with the lines of the code as they are. */
  async function runAlone(body: string, args: Record<string, string | number> = {}) {
    const reactor = await reactors.deploy(inFunction(body), { configuration: { url: 'https://a.example' } });
    const outcome = await reactor.invoke(args);
    await reactors.runtime.remove(reactor.workload.tenantId, reactor.workload.reactorId);
    return outcome;
  }

  it('gets arguments, configuration and no svc without an application', async () => {
    expect(await runAlone('return { raw: req, tokenize: { n: req.args.n } }', { n: 1 })).to.deep.equal({
      kind: 'returned',
      raw: { args: { n: 1 }, configuration: { url: 'https://a.example' }, svc: null },
      tokenize: { n: 1 },
    });
  });

  for (const body of ['return {}', '', 'return', 'return null']) {
    it(`returns neither raw nor tokenize with "${body}"`, async () => {
      expect(await run(body)).to.deep.equal({ kind: 'returned' });
    });
  }

  for (const body of [
    'return 7',
    `return ''`,
    'return false',
    'return [1]',
    'return () => ({})',
    'return { raw: () => 1 }',
    'return { raw: 1n }',
  ]) {
    it(`refuses the result of "${body}"`, async () => {
      expect(await run(body)).to.deep.equal({ kind: 'invalid-result' });
    });
  }

  for (const body of [
    `return { raw: 'x'.repeat(1024 * 1024) }`,
    `return { raw: 'x'.repeat(6e5), tokenize: 'x'.repeat(6e5) }`,
    `throw new CustomHttpResponseError({ status: 200, body: 'x'.repeat(1024 * 1024) })`,
    `throw new BadRequestError('x'.repeat(1024 * 1024))`,
  ]) {
    it(`says that the result of "${body}" is too large`, async () => {
      expect(await run(body)).to.deep.equal({ kind: 'result-too-large' });
    });
  }

  it('answers each error class with its status and its errors', async () => {
    const reactor = await reactors.deploy(
      inFunction(`const errors = require('@tokenkeep/errors');
        if (errors[req.args.name] !== globalThis[req.args.name]) return {};
        throw new errors[req.args.name](req.args.argument)`),
    );
    for (const [name, { status, title }] of Object.entries(ERROR_CLASSES)) {
      const outcome = await reactor.invoke({ name, argument: 'wrong' });
      expect(outcome, name).to.deep.equal({ kind: 'threw', status, title, errors: { error: ['wrong'] } });
    }
  });

  for (const [argument, errors] of [
    [`'one'`, { error: ['one'] }],
    [`['one', 2]`, { error: ['one', '2'] }],
    [`new TypeError('inner')`, { error: ['inner'] }],
    [`{ f: { g: 1 }, h: [[1], null], i: true }`, { f: ['{"g":1}'], h: ['[1]', 'null'], i: ['true'] }],
    [`['a', { x: 1 }, new Error('inner')]`, { error: ['a', '{"x":1}', 'inner'] }],
    [`(() => { const f = {}; f.f = f; return { f, g: () => 1 } })()`, { f: ['[no JSON form]'], g: ['[no JSON form]'] }],
    [`{ card: 'declined', cvc: ['short', 'odd'] }`, { card: ['declined'], cvc: ['short', 'odd'] }],
  ] as const) {
    it(`turns the argument ${argument} into errors`, async () => {
      const outcome = await run(`throw new BadRequestError(${argument})`);
      expect(outcome).to.have.property('errors').that.deep.equals(errors);
    });
  }

  it('keeps its error bodies where code has put toJSON on every object', async () => {
    const outcome = await run(`Object.prototype.toJSON = () => 'mine'; throw new RateLimitError(['slow', 'down'])`);
    expect(outcome).to.deep.include({ status: 429, errors: { error: ['slow', 'down'] } });
  });

  it('passes a custom response on as it is', async () => {
    const outcome = await run(
      `throw new CustomHttpResponseError({ status: 418, headers: { 'x-pot': 'tea' }, body: { short: true } })`,
    );
    expect(outcome).to.deep.equal({
      kind: 'custom-response',
      status: 418,
      headers: { 'x-pot': 'tea' },
      body: { short: true },
    });
  });

  for (const response of [
    `{ status: 99 }`,
    `{ status: 200, headers: { 'a b': 'c' } }`,
    `{ status: 200, headers: { a: 'b\\r\\nc: d' } }`,
  ]) {
    it(`refuses the custom response ${response}`, async () => {
      expect(await run(`throw new CustomHttpResponseError(${response})`)).to.deep.equal({ kind: 'invalid-result' });
    });
  }

  for (const thrown of [
    `new Error('4242424242424242')`,
    `'4242424242424242'`,
    `Object.create(BadRequestError.prototype)`,
  ]) {
    it(`tells nothing of the thrown ${thrown} but its kind`, async () => {
      const outcome = await run(`throw ${thrown}`);
      expect(outcome).to.deep.include({ kind: 'threw', status: 500 });
      expect(JSON.stringify(outcome)).not.to.contain('42424242');
    });
  }

  it('names the built-in error and the line of an unclassed throw', async () => {
    expect(await runAlone('\n\nnull.x')).to.have.property('detail', 'TypeError at line 3');
  });

  describe('a module that is not there', () => {
    const available =
      '@tokenkeep/errors, axios, buffer, crypto, events, jsonpath, node-fetch, querystring, url, util, uuid';

    it('is named beside those that are there, where the code does not catch the error', async () => {
      expect(await runAlone(`\n  require('left-pad')`)).to.deep.include({
        kind: 'threw',
        status: 500,
        detail: `The code requires the module "left-pad", which is not available (line 2). Available: ${available}.`,
      });
    });

    it('is not named where it does not have the form of a name', async () => {
      const reactor = await reactors.deploy(inFunction('require(req.args.name)'));
      const detail = `The code requires a module that is not available (line 1). Available: ${available}.`;
      for (const name of ['4242424242424242', 'ada@example.com', 'two words', '', 'x'.repeat(201)]) {
        expect(await reactor.invoke({ name }), name).to.have.property('detail', detail);
      }
    });

    it('is the business of the code that catches the error', async () => {
      const outcome = await run(
        `try { require('left-pad') } catch (error) { return { raw: [error.code, error.message] } }`,
      );
      const raw = ['MODULE_NOT_FOUND', `Cannot find module 'left-pad'. Available: ${available}`];
      expect(outcome).to.deep.equal({ kind: 'returned', raw });
    });

    it('is not taken from an error that only looks the same', async () => {
      const outcome = await runAlone(
        `throw Object.assign(new Error("Cannot find module 'left-pad'"), { code: 'MODULE_NOT_FOUND' })`,
      );
      expect(outcome).to.have.property('detail', 'Error at line 1');
    });
  });

  it('has the globals of a server', async () => {
    const outcome = await run(`
      const params = new URL('https://a.example:8443/p?x=1&x=2#h').searchParams;
      await new Promise((resolve) => setTimeout(resolve, 1));
      console.log('goes nowhere');
      const copy = structuredClone({ at: new Date(0), map: new Map([[1, { deep: [2] }]]) });
      return { raw: {
        params: params.getAll('x'), host: new URL('../q', 'https://b.example/x/y/').href,
        text: new TextDecoder().decode(new TextEncoder().encode('hé€😀')),
        base64: btoa('abc') + atob('ZGVm'), at: copy.at.toISOString(), deep: copy.map.get(1).deep,
        uuid: /^[0-9a-f-]{36}$/.test(crypto.randomUUID()),
        absent: [typeof FormData, typeof process, typeof WebAssembly, typeof SharedArrayBuffer, typeof WeakRef],
      } }`);
    expect(outcome)
      .to.have.property('raw')
      .that.deep.equals({
        params: ['1', '2'],
        host: 'https://b.example/x/q',
        text: 'hé€😀',
        base64: 'YWJjdef',
        at: '1970-01-01T00:00:00.000Z',
        deep: [2],
        uuid: true,
        absent: ['undefined', 'undefined', 'undefined', 'undefined', 'undefined'],
      });
  });

  it('requires the modules that are listed', async () => {
    const outcome = await run(`
      const { createHash, createHmac, randomBytes } = require('node:crypto');
      const { Buffer } = require('buffer');
      const EventEmitter = require('events');
      const emitter = new EventEmitter();
      let heard = 0;
      emitter.once('x', (n) => { heard += n }); emitter.emit('x', 2); emitter.emit('x', 2);
      return { raw: {
        hash: createHash('sha256').update('a').update('b').digest('hex'),
        hmac: createHmac('sha256', 'key').update('data').digest('base64'),
        random: randomBytes(16).length,
        buffer: Buffer.concat([Buffer.from('é'), Buffer.from('00ff', 'hex')]).toString('base64'),
        number: Buffer.from([1, 2, 3, 4]).readUInt32BE(0), slice: Buffer.from('abcdef').slice(1, 3).toString(),
        heard,
        query: require('querystring').stringify({ a: [1, 2], b: 'ü' }), parsed: require('querystring').parse('a=1&a=2&b=%C3%BC').a,
        util: require('util').format('%s-%d', 'a', 2), equal: require('util').isDeepStrictEqual({ a: [1] }, { a: [1] }),
        v5: require('uuid').v5('hello', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'), valid: require('uuid').validate(require('uuid').v4()),
        url: new (require('url').URL)('http://x').host,
      } }`);
    expect(outcome)
      .to.have.property('raw')
      .that.deep.equals({
        hash: 'fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603',
        hmac: 'UDH+PZicbRU3oBP6bnOdojRj/a7DtwE32Cjjas4iG9A=',
        random: 16,
        buffer: 'w6kA/w==',
        number: 0x01020304,
        slice: 'bc',
        heard: 2,
        query: 'a=1&a=2&b=%C3%BC',
        parsed: ['1', '2'],
        util: 'a-2',
        equal: true,
        v5: '9342d47a-1bab-5709-9869-c840b2eac501',
        valid: true,
        url: 'x',
      });
  });
});

import { expect } from 'chai';
import { createReactorHarness } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';

/** Things that one invocation does to what it can reach; the next must find nothing of it. */
const STAINS: Record<string, string> = {
  'a global': `globalThis.leak = req.args.secret`,
  'a module variable': `kept = req.args.secret`,
  'Object.prototype': `Object.prototype.leak = req.args.secret`,
  'Object.prototype.toJSON': `Object.prototype.toJSON = () => req.args.secret`,
  'Array.prototype': `Array.prototype.map = () => [req.args.secret]`,
  Promise: `globalThis.Promise = class { then() { return req.args.secret } }`,
  'Promise.prototype.then': `Promise.prototype.then = function () { return req.args.secret }`,
  JSON: `JSON.stringify = () => JSON.parse; JSON.parse = () => req.args.secret`,
  'Function.prototype.call': `Function.prototype.call = Function.prototype.apply = () => req.args.secret`,
  'Reflect.apply': `Reflect.apply = () => req.args.secret`,
  'a required module': `require('util').format = () => req.args.secret`,
  'the error classes': `require('@tokenkeep/errors').leak = req.args.secret`,
  'the last match of RegExp': `/(.*)/.exec(req.args.secret)`,
  'a timer left behind': `setTimeout(() => { globalThis.leak = req.args.secret; while (1); }, 20)`,
};

const PROBE = `
  await new Promise((resolve) => setTimeout(resolve, 40));
  const seen = [typeof leak, kept, {}.leak, {}.toJSON, [1].map((n) => n + 1)[0], JSON.stringify({ a: 1 }), RegExp.$1,
    require('util').format('%s', 1), require('@tokenkeep/errors').leak, await Promise.resolve(3), (function () { return this }).call(4) + 0];
  return { raw: seen.map((value) => value === undefined ? null : value) };`;
const CLEAN = ['undefined', null, null, null, 2, '{"a":1}', '', '1', null, 3, 4];

const ESCAPES: Record<string, string> = {
  'the constructor of a global function': `return setTimeout.constructor('return typeof process + typeof require')()`,
  'the constructor of an error of the harness': `try { require('fs') } catch (e) { return e.constructor.constructor('return typeof process')() }`,
  'the constructor of the arguments': `return req.args.constructor.constructor('return typeof process')()`,
  'the constructor of a module': `return require('crypto').createHash.constructor('return typeof process')()`,
  'the stack of a host error': `try { new URL('::') } catch (e) { return /node:|host-calls|\\/src\\//.test(e.stack) ? 'host frames' : 'undefined' }`,
  'the frames that prepareStackTrace shows': `Error.prepareStackTrace = (_, frames) => frames.some((frame) =>
      frame.getFileName() !== 'reactor.js' && (frame.getFunction() || frame.getThis())) ? 'reachable' : 'undefined';
    return new Error('x').stack`,
  'arguments.callee.caller': `try { return typeof arguments.callee.caller.caller === 'function' ? 'callers' : 'undefined' } catch { return 'undefined' }`,
  'dynamic import': `try { return Object.keys(await import('node:fs')).length } catch { return 'undefined' }`,
};

describe('isolation of invocations', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  before(() => {
    reactors = createReactorHarness();
  });
  after(() => reactors.stop());

  describe('between two invocations of one instance', () => {
    let reactor: DeployedReactor;
    before(async () => {
      const stains = Object.values(STAINS).map((stain, index) => `if (req.args.stain === ${index}) { ${stain} }`);
      reactor = await reactors.deploy(
        `let kept; module.exports = async (req) => { if (req.args.probe) { ${PROBE} } ${stains.join('\n')} return {} }`,
      );
    });

    Object.keys(STAINS).forEach((name, stain) => {
      it(`leaves nothing in ${name}`, async () => {
        await reactor.invoke({ stain, secret: 'SECRET' });
        expect(await reactor.invoke({ probe: true })).to.deep.equal({ kind: 'returned', raw: CLEAN });
      });
    });
  });

  describe('from the isolate', () => {
    let reactor: DeployedReactor;
    before(async () => {
      const escapes = Object.values(ESCAPES).map((body) => `async function (req) { ${body} }`);
      reactor = await reactors.deploy(
        `module.exports = async function (req) { return { raw: await [${escapes.join(', ')}][req.args.escape](req) } }`,
      );
    });

    Object.keys(ESCAPES).forEach((name, escape) => {
      it(`gives no way out through ${name}`, async () => {
        const outcome = await reactor.invoke({ escape });
        expect(outcome)
          .to.have.property('raw')
          .that.matches(/^(undefined)+$/);
      });
    });
  });

  it('has no module of the host', async () => {
    const reactor = await reactors.deploy(
      `module.exports = async (req) => { try { require(req.args.name) } catch (error) { return { raw: error.message } } }`,
    );
    for (const name of ['fs', 'node:child_process', 'net', 'isolated-vm', '__proto__', 'constructor', 'https']) {
      const outcome = await reactor.invoke({ name });
      expect(outcome).to.have.property('raw').that.contains('Cannot find module').and.contains('@tokenkeep/errors');
    }
  });
});

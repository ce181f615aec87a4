import { expect } from 'chai';
import { createReactorHarness } from '../../support/reactors.ts';
import type { ReactorHarness } from '../../support/reactors.ts';

describe('checking reactor code', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  before(async () => {
    reactors = createReactorHarness({ maxWaitMs: 5_000 });
    reactors.client.instances.setChecker(await reactors.runtime.checker());
  });
  after(() => reactors.stop());

  it('accepts code that exports a function', async () => {
    expect(await reactors.client.check('module.exports = async () => ({})')).to.deep.equal({ ok: true });
  });

  for (const [name, code, kind, line] of [
    ['a syntax error', '\nconst secretName = ;', 'syntax', 2],
    ['an object for a function', 'module.exports = { run() {} }', 'not-a-function', undefined],
    ['nothing exported', 'const a = 1', 'not-a-function', undefined],
    ['an error at the top level', '\n\nnull.secretName', 'top-level-error', 3],
    ['memory without end', 'const a = []; while (1) a.push(new Uint8Array(1e7).fill(1))', 'top-level-error', undefined],
  ] as const) {
    it(`refuses ${name}`, async () => {
      const outcome = await reactors.client.check(code);
      expect(outcome).to.deep.include({ ok: false, kind });
      if (line !== undefined) {
        expect(outcome).to.have.property('line', line);
        expect(outcome).to.have.property('message').that.contains(`(line ${line})`);
      }
      expect(outcome).to.have.property('message').that.does.not.contain('secretName');
    });
  }

  it('names the module that is missing, and those that are there', async () => {
    const outcome = await reactors.client.check(`const fs = require('fs'); module.exports = () => ({})`);
    expect(outcome).to.deep.include({ ok: false, kind: 'top-level-error', line: 1 });
    expect(outcome)
      .to.have.property('message')
      .that.contains('"fs"')
      .and.contains('@tokenkeep/errors, axios, buffer, crypto');
  });

  it('checks the next code after it had to end a process', async () => {
    expect(await reactors.client.check('module.exports = () => ({})')).to.deep.equal({ ok: true });
  });

  it('refuses two codes that loop without end, and checks another meanwhile', async () => {
    let looping = 2;
    const loops = [1, 2].map(() => reactors.client.check('while (1);').finally(() => looping--));
    expect(await reactors.client.check('module.exports = () => ({})')).to.deep.equal({ ok: true });
    expect(looping).to.equal(2);
    for (const outcome of await Promise.all(loops)) expect(outcome).to.deep.include({ ok: false, kind: 'timed-out' });
  });

  it('is unavailable where there is no checker', async () => {
    const alone = createReactorHarness({ maxWaitMs: 100 });
    const outcome = await alone.client.check('module.exports = () => ({})');
    expect(outcome).to.deep.equal({ ok: false, kind: 'unavailable' });
    await alone.stop();
  });
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { limitedCommand, type Limiter } from '../../../src/reactors/host/process-limits.ts';

const run = promisify(execFile);
const PROGRAM = `const { readFileSync } = require('node:fs');
const limits = readFileSync('/proc/self/limits', 'utf8').split('\\n').map((line) => line.split(/ {2,}/));
const of = (name) => limits.find(([first]) => first === name).slice(1, 3);
console.log(JSON.stringify({
  data: of('Max data size'), stack: of('Max stack size'), core: of('Max core file size'), files: of('Max open files'),
  environment: process.env, args: process.argv.slice(1),
}));`;

/** Of Node, which a shell must hand on as they are. */
const ARGS = ['two words', '$HOME', "it's", '--core=1'];

describe('limits of a process', function () {
  before(function () {
    if (process.platform !== 'linux' || !existsSync('/usr/bin/prlimit')) this.skip();
  });

  for (const limiter of ['prlimit', 'shell'] satisfies Limiter[]) {
    it(`are set by ${limiter}, soft and hard, and nothing else is`, async () => {
      const [file, ...args] = limitedCommand(
        512,
        [process.execPath, '--jitless', '-e', PROGRAM, '--', ...ARGS],
        limiter,
      );
      const { stdout } = await run(file, args, { env: {} });
      expect(JSON.parse(stdout)).to.deep.equal({
        data: [`${512 * 2 ** 20}`, `${512 * 2 ** 20}`],
        stack: [`${2 * 2 ** 20}`, `${2 * 2 ** 20}`],
        core: ['0', '0'],
        files: ['64', '64'],
        environment: {},
        args: ARGS,
      });
    });
  }

  it('need no shell where there is prlimit', () => {
    expect(limitedCommand(512, ['node'])[0]).to.equal('/usr/bin/prlimit');
  });
});

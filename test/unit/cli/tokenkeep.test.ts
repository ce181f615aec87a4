import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const launcher = fileURLToPath(new URL('../../../src/cli/tokenkeep.js', import.meta.url));

/** Runs the command with this Node and a clean environment. */
function tokenkeep(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [launcher, ...args], { encoding: 'utf8', env: {} });
}

describe('tokenkeep command', () => {
  it('prints its help on standard output', () => {
    const { status, stdout, stderr } = tokenkeep('--help');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.include('Usage: tokenkeep <command> [flags]');
  });

  it('ends with code 2 and one line a fault on standard error where settings are wrong', () => {
    const { status, stdout, stderr } = tokenkeep('standalone', '--port', 'x', '--log-level', 'loud');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr.trim().split('\n')).to.have.lengthOf(3);
  });
});

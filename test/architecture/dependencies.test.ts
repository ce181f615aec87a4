import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

interface LockedPackage {
  readonly version: string;
  /** Absent: from the registry that npm is told to use. */
  readonly resolved?: string;
  readonly integrity?: string;
}

const LOCK_FILE = fileURLToPath(new URL('../../package-lock.json', import.meta.url));

/** Packages that could be another thing tomorrow, by their paths. */
function unlocked(packages: Readonly<Record<string, LockedPackage>>): string[] {
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .filter(
      ([, { resolved, integrity }]) => resolved !== undefined || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    )
    .map(([path]) => path);
}

describe('dependencies', () => {
  const { packages } = JSON.parse(readFileSync(LOCK_FILE, 'utf8')) as { packages: Record<string, LockedPackage> };

  it('come from a registry of packages, each with the digest of its content', () => {
    expect(Object.keys(packages)).to.have.length.above(50);
    expect(unlocked(packages)).to.deep.equal([]);
  });

  const sound: LockedPackage = { version: '3.3.0', integrity: `sha512-${'A'.repeat(86)}==` };
  for (const [what, change] of Object.entries({
    'from a file of another host': { resolved: 'https://packages.example/koa-3.3.0.tgz' },
    'from a repository': { resolved: 'git+ssh://git@github.com/koajs/koa.git#abc' },
    'with an old digest': { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
    'with a digest cut short': { integrity: 'sha512-AAAA' },
  })) {
    it(`would be caught coming ${what}`, () => {
      expect(unlocked({ '': sound, 'node_modules/koa': sound })).to.deep.equal([]);
      expect(unlocked({ 'node_modules/koa': { ...sound, ...change } })).to.deep.equal(['node_modules/koa']);
    });
  }
});

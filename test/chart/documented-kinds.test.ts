import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['*.md', 'docs/**/*.md', 'charts/**/{README.md,NOTES.txt}', 'config/**/*.md'];
const VERBS = /\s(?:annotate|delete|describe|edit|explain|get|label|patch|wait)\s/;
const KIND = /^(?:tenant|application|accessrule|reactor)s?(?=$|\/|\.(?!tokenkeep\.dev\b))/i;

/**
 * Commands of kubectl that name kinds of ours without their group. Other groups have kinds of these names, as Argo CD
 * its Application, and kubectl takes the first group that has one: it would delete those.
 */
function unqualifiedIn(page: string): string[] {
  const commands = page.replaceAll(/\\\n\s*/g, '').match(/\bkubectl (?!tokenkeep )[^`|;&#\n]+/g) ?? [];
  return commands.filter(
    (command) => VERBS.test(command) && command.split(/[\s,]+/).some((argument) => KIND.test(argument)),
  );
}

describe('commands of kubectl in the documents', () => {
  it('name kinds of ours with their group', async () => {
    const found: string[] = [];
    let commands = 0;
    for await (const path of glob(PAGES, { cwd: ROOT })) {
      const page = await readFile(`${ROOT}${path}`, 'utf8');
      commands += page.match(/\bkubectl /g)?.length ?? 0;
      found.push(...unqualifiedIn(page).map((command) => `${path}: ${command}`));
    }
    expect(commands).to.be.above(50);
    expect(found).to.deep.equal([]);
  });

  for (const command of [
    'kubectl delete applications,accessrules.tokenkeep.dev --all',
    'kubectl delete accessrules.tokenkeep.dev,applications --all',
    'kubectl -n shop annotate application/checkout a=b',
    'kubectl patch -n shop \\\n  Reactor brand',
    'kubectl explain application.spec.key',
    'kubectl wait --for=condition=Ready tenants --all',
  ]) {
    it(`are found without it: ${command.replace('\\\n', '')}`, () => {
      expect(unqualifiedIn(`Text.\n\n${command} # and so on\n`)).to.have.length(1);
    });
  }

  for (const command of [
    'kubectl delete applications.tokenkeep.dev,accessrules.tokenkeep.dev --all',
    'kubectl get application.tokenkeep.dev/checkout',
    'kubectl explain applications.tokenkeep.dev.spec.key',
    'kubectl get events | grep reactor',
    'kubectl tokenkeep reactor invoke brand',
  ]) {
    it(`are taken: ${command}`, () => {
      expect(unqualifiedIn(`Text.\n\n${command}\n`)).to.deep.equal([]);
    });
  }
});

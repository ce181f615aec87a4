import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { faultsOf, itemsOf } from './security-items.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

function readTest(path: string): string | undefined {
  try {
    return readFileSync(ROOT + path, 'utf8');
  } catch {
    return undefined;
  }
}

describe('docs/security-requirements.md', () => {
  const document = readFileSync(`${ROOT}docs/security-requirements.md`, 'utf8');

  it('names, for every item, tests that there are and that run', () => {
    expect(faultsOf(document, readTest)).to.deep.equal([]);
  });

  for (const standard of ['ASVS', 'PCI']) {
    it(`has items of both kinds: ${standard}`, () => {
      const items = itemsOf(document).filter(({ name }) => name.startsWith(standard));
      expect(items.filter(({ shownBy }) => shownBy !== undefined)).to.have.length.above(20);
      expect(items.filter(({ reason }) => reason !== undefined)).not.to.be.empty;
    });
  }
});

describe('a document of security items', () => {
  const FILE = 'test/unit/planted.test.ts';
  const TESTS = `
    describe('a vault', () => {
      it('keeps secrets', () => {});
      it(\`refuses \${name}, and says why\`, () => {});
      it(name, () => {});
      it.skip('keeps time', () => {});
      it('keeps waiting');
      it('keeps away', function () { if (process.env.CI) this.skip(); });
      describe.skip('at night', () => { it('sleeps', () => {}); });
      describe('by day', () => { it.skip('wakes', () => {}); });
      xit('keeps count', () => {});
    });
    describe('a safe', () => { it('keeps jewels', () => {}); });`;

  const faults = (rows: readonly string[]): string[] =>
    faultsOf(['# Met', '| Item | Shown by |', '| --- | --- |', ...rows].join('\n'), (path) =>
      path === FILE ? TESTS : undefined,
    );
  const faultsOfOne = (shownBy: string): string[] => faults([`| ASVS 1.2.3 | ${shownBy} |`]);

  const accepted: Readonly<Record<string, string>> = {
    'a title': `\`${FILE}\` › keeps secrets`,
    'the title of a describe': `\`${FILE}\` › a vault`,
    'a title under its describe': `\`${FILE}\` › a vault › keeps secrets`,
    'the fixed parts of a title': `\`${FILE}\` › refuses …, and says why`,
    'several titles': `\`${FILE}\` › keeps secrets; \`${FILE}\` › keeps jewels`,
  };
  for (const [name, shownBy] of Object.entries(accepted)) {
    it(`may name ${name}`, () => {
      expect(faultsOfOne(shownBy)).to.deep.equal([]);
    });
  }

  const refused: Readonly<Record<string, readonly [shownBy: string, fault: string]>> = {
    'an item without a test': ['', 'names no test'],
    'a test without a title': [`\`${FILE}\``, `'${FILE}' is not of the form \`file\` › title`],
    'a file that does not exist': ['`test/unit/gone.test.ts` › keeps secrets', 'test/unit/gone.test.ts does not exist'],
    'a file that is not run': ['`test/bench/run.ts` › keeps secrets', 'test/bench/run.ts is no file of tests'],
    'a title that is in no test': [`\`${FILE}\` › keeps silver`, `${FILE} has no test 'keeps silver'`],
    'part of a title': [`\`${FILE}\` › keeps`, `${FILE} has no test 'keeps'`],
    'a title under another describe': [
      `\`${FILE}\` › a safe › keeps secrets`,
      `${FILE} has no test 'a safe › keeps secrets'`,
    ],
    'a title without a fixed part': [`\`${FILE}\` › …`, "'…' says too little to find a test by"],
    'one of several titles': [
      `\`${FILE}\` › keeps secrets; \`${FILE}\` › keeps gold`,
      `${FILE} has no test 'keeps gold'`,
    ],
  };
  for (const [name, [shownBy, fault]] of Object.entries(refused)) {
    it(`would be caught with ${name}`, () => {
      expect(faultsOfOne(shownBy)).to.deep.equal([`ASVS 1.2.3: ${fault}`]);
    });
  }

  for (const title of ['keeps time', 'keeps waiting', 'keeps away', 'at night', 'sleeps', 'by day', 'keeps count']) {
    it(`would be caught with a test that is skipped: ${title}`, () => {
      expect(faultsOfOne(`\`${FILE}\` › ${title}`)).to.deep.equal([`ASVS 1.2.3: '${title}' in ${FILE} is skipped`]);
    });
  }

  it('would be caught with an item that stands there twice, also where it is said not to be met', () => {
    const document = [
      ...['# Met', '| Item | Shown by |', '| --- | --- |', `| PCI 3.4.1 | \`${FILE}\` › keeps secrets |`],
      ...['# Not met', '| Item | Reason |', '| --- | --- |', '| PCI 3.4.1 | There is none. |'],
    ].join('\n');
    expect(faultsOf(document, () => TESTS)).to.deep.equal(['PCI 3.4.1: stands there twice']);
  });

  it('would be caught with an item that is not met for no reason', () => {
    const document = ['# Not met', '| Item | Reason |', '| --- | --- |', '| PCI 3.4.1 | |'].join('\n');
    expect(faultsOf(document, () => TESTS)).to.deep.equal(['PCI 3.4.1: has no reason for being without a test']);
  });

  it('would be caught with what is not the number of an item', () => {
    expect(faults([`| 3.4.1 | \`${FILE}\` › keeps secrets |`])).to.deep.equal(['3.4.1: is not the number of an item']);
  });
});

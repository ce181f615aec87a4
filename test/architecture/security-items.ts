import { parseTables, type TableRow } from '../support/markdown-tables.ts';
import type { SourceFile } from './arrows.ts';
import { titlesOf } from './test-titles.ts';

/** Columns of docs/security-requirements.md. A table has the second one, or the third. */
const ITEM = 'Item';
const SHOWN_BY = 'Shown by';
const REASON = 'Reason';

/** Standard and number: `ASVS 11.3.4`, `PCI 3.5.1.1`, `PCI A1.1.2`. */
const ITEM_NAME = /^(?:ASVS |PCI A?)\d+(?:\.\d+)+$/;
/** Files that `make test` runs. */
const TEST_FILE = /^test\/(?:architecture|unit|integration)\/.+\.test\.ts$/;
/** A title that is made when the tests are has to be known by something. */
const KNOWN_TEXT = /\p{L}{3}/u;

/** One item of a standard, as the document has it. */
interface SecurityItem {
  readonly name: string;
  /** Undefined where it is not ours, or not met. */
  readonly shownBy: string | undefined;
  readonly reason: string | undefined;
}

/** Every item of every table that has items. */
export function itemsOf(document: string): SecurityItem[] {
  return [...parseTables(document).values()]
    .flat()
    .filter((row) => ITEM in row)
    .map((row: TableRow) => ({ name: row[ITEM]!, shownBy: row[SHOWN_BY], reason: row[REASON] }));
}

/**
 * What keeps the document from being evidence, as sentences.
 *
 * A test is named as `` `file` › title ``, or `` `file` › describe › title `` where the title alone says too little;
 * several are parted by `; `. `…` in a title stands for what is filled in when the tests are made.
 */
export function faultsOf(document: string, readTest: (path: string) => string | undefined): string[] {
  const items = itemsOf(document);
  const repeated = items.filter(({ name }, index) => items.findIndex((item) => item.name === name) < index);
  return [
    ...repeated.map(({ name }) => `${name}: stands there twice`),
    ...items.flatMap((item) => faultsOfItem(item, readTest).map((fault) => `${item.name}: ${fault}`)),
  ];
}

function faultsOfItem({ name, shownBy, reason }: SecurityItem, readTest: (path: string) => string | undefined) {
  const faults = ITEM_NAME.test(name) ? [] : ['is not the number of an item'];
  if (shownBy === undefined)
    return (reason ?? '') === '' ? [...faults, 'has no reason for being without a test'] : faults;
  if (shownBy === '') return [...faults, 'names no test'];
  return [...faults, ...shownBy.split(/; (?=`)/).flatMap((reference) => faultsOfReference(reference, readTest))];
}

function faultsOfReference(reference: string, readTest: (path: string) => string | undefined): string[] {
  const [, path, titles] = /^`([^`]+)` › (.+)$/.exec(reference) ?? [];
  if (path === undefined || titles === undefined) return [`'${reference}' is not of the form \`file\` › title`];
  if (!TEST_FILE.test(path)) return [`${path} is no file of tests`];
  const text = readTest(path);
  if (text === undefined) return [`${path} does not exist`];
  return faultsOfTitle({ path, text }, titles.split(' › '));
}

function faultsOfTitle(file: SourceFile, wanted: readonly string[]): string[] {
  const named = titlesOf(file).filter(({ path }) => path.at(-1) === wanted.at(-1) && stand(wanted, path));
  const title = wanted.join(' › ');
  if (!KNOWN_TEXT.test(wanted.at(-1)!)) return [`'${title}' says too little to find a test by`];
  if (named.length === 0) return [`${file.path} has no test '${title}'`];
  return named.some(({ skipped }) => !skipped) ? [] : [`'${title}' in ${file.path} is skipped`];
}

/** Whether all of them stand in the path, in this order. */
function stand(wanted: readonly string[], path: readonly string[]): boolean {
  let at = -1;
  return wanted.every((title) => (at = path.indexOf(title, at + 1)) !== -1);
}

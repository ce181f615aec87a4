import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Suite } from 'mocha';
import { runRecorder } from './exchange-recorder.ts';

const API_TESTS = fileURLToPath(new URL('../integration/api/', import.meta.url));

/** What the document has and no exchange of a whole run shows: why it cannot be shown for each operation. */
const UNSHOWN: readonly (readonly [what: RegExp, why: string])[] = [
  [/^\w+ 500$/, 'a fault that nobody foresaw, so that none can be shown'],
  [/^\w+ 503$/, 'what is away is away for all operations: shown for some, with Postgres held up'],
  [/^get(Document|Page) 429$/, 'an address is counted before its path is looked at: shown for paths of tokens'],
  [/^(Token\.enrichments|CardEnrichments\b.*)$/, 'of detokenized tokens, in an answer of the shape of its request'],
];

function filesIn(suite: Suite): string[] {
  return [...(suite.file === undefined ? [] : [suite.file]), ...suite.suites.flatMap(filesIn)];
}

function isDone(suite: Suite): boolean {
  // Without a state: left out by `--grep`, or behind a hook that failed.
  return suite.tests.every(({ state }) => state === 'passed' || state === 'pending') && suite.suites.every(isDone);
}

/**
 * Fails where the document promises what no test of the run has seen: a status of an operation, a member of an answer
 * or of a request that succeeds, a query parameter. Only a run of all tests of the API, passed, can tell.
 */
export async function checkDocumentCoverage(root: Suite): Promise<void> {
  const recorder = runRecorder();
  const loaded = new Set(filesIn(root));
  const present = (await readdir(API_TESTS)).filter((name) => name.endsWith('.test.ts'));
  if (recorder === undefined || !isDone(root) || !present.every((name) => loaded.has(API_TESTS + name))) return;
  const unseen = mapValues({ ...recorder.unseen() }, (names) =>
    [...names].filter((name) => !UNSHOWN.some(([what]) => what.test(name))),
  );
  expect(unseen, 'documented, and seen by no test').to.deep.equal(mapValues(unseen, () => []));
}

function mapValues<Key extends string, Value, Result>(
  record: Readonly<Record<Key, Value>>,
  change: (value: Value) => Result,
): Record<Key, Result> {
  const entries = Object.entries(record) as [Key, Value][];
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value)])) as Record<Key, Result>;
}

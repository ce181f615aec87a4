import { readFile } from 'node:fs/promises';
import { isMap, isScalar, parseDocument, stringify, type Document, type YAMLMap } from 'yaml';

const CHART = new URL('../../charts/tokenkeep/', import.meta.url);
/** What follows in README.md is made here. */
const HEADING = '## Values';

interface Row {
  readonly path: string;
  readonly value: unknown;
  /** What the comment above it says; empty where there is none. */
  readonly meaning: string;
}

/** Every value with its default and its comment, in the order of the file; maps of which each entry is a value, too. */
function rowsOf(map: YAMLMap, document: Document, prefix = ''): Row[] {
  return map.items.flatMap((pair, index) => {
    if (!isScalar(pair.key)) throw new Error('keys are texts');
    const path = `${prefix}${String(pair.key.value)}`;
    // The comment above the first entry belongs to the map, as far as the parser is concerned.
    const comment = pair.key.commentBefore ?? (index === 0 && prefix !== '' ? map.commentBefore : undefined) ?? '';
    // The first one follows what is said of the whole file.
    const own = comment.split(/\n\s*\n/).at(-1)!;
    const meaning = own.replace(/\s*\n\s*/g, ' ').trim();
    const value = pair.value;
    if (isMap(value) && !value.flow && value.items.length > 0) {
      const rows = rowsOf(value, document, `${path}.`);
      return meaning === '' ? rows : [{ path, value: undefined, meaning }, ...rows];
    }
    return [{ path, value: (value as { toJS(document: Document): unknown } | null)?.toJS(document), meaning }];
  });
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function presentDefault(value: unknown): string {
  if (value === undefined) return '';
  const text = stringify(value, { collectionStyle: 'flow', singleQuote: true, lineWidth: 0 }).trim();
  return `\`${text}\``;
}

const values = parseDocument(await readFile(new URL('values.yaml', CHART), 'utf8'));
const readme = await readFile(new URL('README.md', CHART), 'utf8');
if (!isMap(values.contents)) throw new Error('values.yaml is a map');
const written = readme.slice(0, readme.indexOf(`\n${HEADING}\n`));
const rows = rowsOf(values.contents, values).map(
  ({ path, value, meaning }) => `| \`${path}\` | ${cell(presentDefault(value))} | ${cell(meaning)} |`,
);
const intro =
  'Made by `make generate` from [values.yaml](values.yaml). Any other is refused, and so is what cannot go together.';
process.stdout.write(
  [written, HEADING, '', intro, '', '| Value | Default | Meaning |', '| --- | --- | --- |', ...rows, ''].join('\n'),
);

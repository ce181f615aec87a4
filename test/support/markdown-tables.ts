import { readFile } from 'node:fs/promises';

/** A row of a table, by the names of its columns. */
export type TableRow = Readonly<Record<string, string>>;

const cellsOf = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'));

/** The tables of a Markdown text, each under the heading before it. Cells are plain text, or code as a whole. */
export function parseTables(text: string): ReadonlyMap<string, readonly TableRow[]> {
  const tables = new Map<string, TableRow[]>();
  let heading = '';
  let columns: string[] | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) heading = line.replace(/^#+\s*/, '');
    if (!line.startsWith('|')) {
      columns = undefined;
    } else if (columns === undefined) {
      if (tables.has(heading)) throw new Error(`two tables stand under one heading: ${heading}`);
      columns = cellsOf(line);
      tables.set(heading, []);
    } else if (!/^[|\s:-]+$/.test(line)) {
      const cells = cellsOf(line);
      if (cells.length !== columns.length) throw new Error(`a row has not as many cells as its table: ${line}`);
      tables.get(heading)!.push(Object.fromEntries(columns.map((name, index) => [name, cells[index]!])));
    }
  }
  return tables;
}

/** The tables of a Markdown file. */
export async function readTables(file: URL): Promise<ReadonlyMap<string, readonly TableRow[]>> {
  return parseTables(await readFile(file, 'utf8'));
}

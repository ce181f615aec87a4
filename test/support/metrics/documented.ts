import { expect } from 'chai';
import { parseTables } from '../markdown-tables.ts';
import { readFile } from 'node:fs/promises';

export const METRICS_PAGE = new URL('../../../docs/metrics.md', import.meta.url);

/** A metric as the page has it. */
export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: string;
  readonly meaning: string;
}

/** Metrics that come with prom-client, and are the same in every program that uses it. */
export const isOfNode = (name: string): boolean => /^(process|nodejs)_/.test(name);

/** By the heading of their table. */
export async function readDocumentedMetrics(): Promise<ReadonlyMap<string, readonly DocumentedMetric[]>> {
  const tables = parseTables(await readFile(METRICS_PAGE, 'utf8'));
  return new Map(
    [...tables]
      .filter(([, rows]) => rows[0] !== undefined && 'Metric' in rows[0])
      .map(([heading, rows]) => [
        heading,
        rows.map((row) => ({
          name: row['Metric']!,
          type: row['Type']!,
          labels: row['Labels']!.replaceAll('`', ''),
          meaning: row['Meaning']!,
        })),
      ]),
  );
}

/** Fails where metrics, as a process serves them, are not on the page, or have another type there. */
export async function expectDocumented(metrics: string): Promise<void> {
  const documented = new Map(
    [...(await readDocumentedMetrics()).values()].flat().map(({ name, type }) => [name, type]),
  );
  const families = [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!] as const);
  expect(families).to.have.length.above(5);
  const others = families.filter(([name, type]) => !isOfNode(name) && documented.get(name) !== type);
  expect(others, 'not in docs/metrics.md').to.deep.equal([]);
}

import type { Measurement } from '../measure.ts';
import { median } from '../load-loop.ts';

type Row = readonly (string | number)[];

/** Markdown, numbers to the right. */
export function renderTable(head: readonly string[], rows: readonly Row[]): string {
  const align = head.map((_, column) =>
    rows.every((row) => /^[\d.<>, –-]*$/.test(String(row[column]))) ? '--:' : '---',
  );
  return [head, align, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const milliseconds = (ms: number): string => (ms < 0.1 ? ms.toFixed(4) : ms < 10 ? ms.toFixed(2) : ms.toFixed(1));

/** Each beside what the function itself takes, called directly: what is over it is the price of the wall. */
export function renderWarm(measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ subject, perSecond, p50, p99 }) => {
    const direct = measurements.find(
      (other) =>
        other.subject.ceiling === null &&
        other.subject.scenario === subject.scenario &&
        other.subject.concurrency === subject.concurrency,
    )!;
    const over = (mine: number, its: number): string => (subject.ceiling === null ? '' : milliseconds(mine - its));
    return [
      subject.scenario,
      subject.concurrency,
      subject.ceiling ?? 'the function, called directly',
      perSecond.toFixed(perSecond < 100 ? 1 : 0),
      ...[milliseconds(p50), milliseconds(p99), over(p50, direct.p50), over(p99, direct.p99)],
    ];
  });
  return renderTable(['Task', 'At once', 'Run by', 'per s', 'p50 ms', 'p99 ms', 'p50 over it', 'p99 over it'], rows);
}

/** How long single runs took, in ms. */
export interface Series {
  readonly name: string;
  readonly runs: readonly number[];
}

export function renderSeries(series: readonly Series[]): string {
  const rows = series.map(({ name, runs }) => [
    ...[name, runs.length, milliseconds(Math.min(...runs))],
    ...[milliseconds(median(runs)), milliseconds(Math.max(...runs))],
  ]);
  return renderTable(['Until its first answer', 'Runs', 'least ms', 'median ms', 'most ms'], rows);
}

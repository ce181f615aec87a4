import type { CpuSeconds } from './cpu.ts';
import type { Measurement } from './measure.ts';

const HEADER = ['', 'at once', 'per s', 'p50 ms', 'p99 ms', 'of it', 'API', 'Postgres', 'reactor', 'loader'];

/** Ours and below it each ceiling, with the part of it that ours reaches. */
export function renderMeasurements(measurements: readonly Measurement[]): string {
  const rows = measurements.map((measurement) => renderRow(measurement, oursFor(measurement, measurements)));
  const widths = HEADER.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd();
  const above = ' '.repeat(widths.slice(0, 6).reduce((sum, width) => sum + width + 2, 0)) + 'CPU s per 1,000';
  return [above, line(HEADER), ...rows.map(line)].join('\n');
}

function oursFor({ subject }: Measurement, all: readonly Measurement[]): Measurement | undefined {
  return all.find(
    ({ subject: { scenario, ceiling, concurrency } }) =>
      scenario === subject.scenario && ceiling === null && concurrency === subject.concurrency,
  );
}

function renderRow({ subject, perSecond, p50, p99, cpu }: Measurement, ours: Measurement | undefined): string[] {
  const { ceiling, scenario, concurrency } = subject;
  const ratio = ceiling === null || ours === undefined ? '' : `${((ours.perSecond / perSecond) * 100).toFixed(1)} %`;
  return [
    ceiling === null ? scenario : `  ${ceiling}`,
    String(concurrency),
    perSecond.toFixed(perSecond < 100 ? 1 : 0),
    p50.toFixed(p50 < 0.1 ? 4 : 2),
    p99.toFixed(p99 < 0.1 ? 4 : 2),
    ratio,
    ...renderCpu(cpu),
  ];
}

function renderCpu(cpu: CpuSeconds | undefined): string[] {
  if (cpu === undefined) return ['?', '?', '?', '?'];
  return [cpu.api, cpu.postgres, cpu.reactors, cpu.loader].map((seconds) => seconds.toFixed(2));
}

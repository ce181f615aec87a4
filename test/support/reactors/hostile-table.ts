import type { HostileRun, Observation } from './hostile-run.ts';
import { wordOf } from './hostile-run.ts';

/** The run as a table of Markdown: one line for each hostile reactor, and what was seen beside them. */
export function hostileTable(run: HostileRun): string {
  const rows = [...run.observations].sort((one, other) =>
    one.group < other.group ? -1 : one.group > other.group ? 1 : 0,
  );
  return [
    '| Group | Reactor | Answer | ms | MB |',
    '| --- | --- | --- | ---: | ---: |',
    ...rows.map(rowOf),
    '',
    `Reactors: ${rows.length}. Slowest answer: ${Math.max(...rows.map(({ ms }) => ms)).toFixed(0)} ms.`,
    `Peak of a process of hostile code: ${run.peakMb.toFixed(0)} MB; of a supervisor: ${run.supervisorPeakMb.toFixed(0)} MB; of both, their own: ${run.instanceMb.toFixed(0)} MB.`,
    `Beside them: ${run.good.answers} good answers, ${run.good.failures.length} failures, slowest ${run.good.slowestMs.toFixed(0)} ms.`,
    '',
  ].join('\n');
}

function rowOf({ group, reactor, outcome, ms, residentMb }: Observation): string {
  return `| ${group} | ${reactor.name} | ${wordOf(outcome)} | ${ms.toFixed(0)} | ${residentMb.toFixed(0)} |`;
}

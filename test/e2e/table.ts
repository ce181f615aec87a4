/** All of it, where what is built once for a machine is there. */
const LIMIT_MS = 15 * 60_000;

/** What became of a step. */
export interface Outcome {
  readonly name: string;
  readonly result: 'passed' | 'FAILED' | 'not run';
  readonly ms: number;
  readonly remark: string;
}

/** One line for each step, and one for all of them. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const total = outcomes.reduce((sum, { ms }) => sum + ms, 0);
  const rows = [
    ['step', 'result', 'seconds', ''],
    ...outcomes.map(({ name, result, ms, remark }) => [name, result, result === 'not run' ? '' : seconds(ms), remark]),
    ['all', outcomes.every(({ result }) => result === 'passed') ? 'passed' : 'FAILED', seconds(total), paceOf(total)],
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(([name = '', result = '', time = '', remark = '']) =>
      `${name.padEnd(widths[0]!)}  ${result.padEnd(widths[1]!)}  ${time.padStart(widths[2]!)}  ${remark}`.trimEnd(),
    )
    .join('\n');
}

function paceOf(totalMs: number): string {
  if (totalMs < LIMIT_MS) return 'less than 15 min';
  return 'MORE than 15 min, which is too long unless something was built for the first time';
}

/** The line that all suites end in. A step that did not come about because of an earlier one counts as skipped. */
export function summaryOf(outcomes: readonly Outcome[]): string {
  const count = (which: Outcome['result']): number => outcomes.filter(({ result }) => result === which).length;
  return `${count('passed')} passed, ${count('FAILED')} failed, ${count('not run')} skipped`;
}

export function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

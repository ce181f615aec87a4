// Text of a cell comes from files: control characters could rewrite the terminal.
const CONTROL_CHARACTERS = /\p{Cc}/gu;
const GAP = '   ';

/** Rows as columns of equal width; empty cells show as `-`. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll(CONTROL_CHARACTERS, ' ') || '-'));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(GAP)}`.trimEnd() + '\n')
    .join('');
}

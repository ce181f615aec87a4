import type { Unit } from '../../../config/dashboard/queries.ts';

export interface DrawnLine {
  readonly legend: string;
  /** NaN: nothing there. */
  readonly values: readonly number[];
}

export interface DrawnPanel {
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly DrawnLine[];
}

export interface DrawnRow {
  readonly title: string;
  readonly panels: readonly DrawnPanel[];
}

const PER_LINE = 3;
const PANEL = { width: 430, height: 220 };
const GAP = 10;
const HEADING = 34;
const INSET = { left: 62, right: 12, top: 32, bottom: 54 };
const LEGENDS = 6;
const COLORS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f', '#bcbd22'];

/** Rows of panels in three columns, as Grafana lays them out, as SVG. */
export function drawDashboard(title: string, rows: readonly DrawnRow[]): string {
  let y = 50;
  const parts: string[] = [];
  for (const row of rows) {
    parts.push(`<text x="${GAP}" y="${y + 22}" font-size="16" font-weight="bold">${escape(row.title)}</text>`);
    y += HEADING;
    row.panels.forEach((panel, index) => {
      const x = GAP + (index % PER_LINE) * (PANEL.width + GAP);
      const at = y + Math.floor(index / PER_LINE) * (PANEL.height + GAP);
      parts.push(`<g transform="translate(${x} ${at})">${drawPanel(panel)}</g>`);
    });
    y += Math.ceil(row.panels.length / PER_LINE) * (PANEL.height + GAP);
  }
  const width = PER_LINE * (PANEL.width + GAP) + GAP;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + GAP}" role="img" font-family="sans-serif" font-size="11">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${width}" height="${y + GAP}" fill="#f4f5f5"/>`,
    `<text x="${GAP}" y="32" font-size="20" font-weight="bold">${escape(title)}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function drawPanel({ title, unit, lines }: DrawnPanel): string {
  const { width, height } = PANEL;
  const [bottom, right] = [height - INSET.bottom, width - INSET.right];
  const shown = lines.filter(({ values }) => values.some((value) => !Number.isNaN(value)));
  const most = niceMost(shown.flatMap(({ values }) => values.filter((value) => Number.isFinite(value))));
  const y = (value: number) => (bottom - (value / most) * (bottom - INSET.top)).toFixed(1);
  const parts = [
    `<rect width="${width}" height="${height}" rx="3" fill="#fff" stroke="#d8d9da"/>`,
    `<text x="10" y="19" font-size="13" font-weight="bold">${escape(title)}</text>`,
    ...[0, most / 2, most].map(
      (value) =>
        `<path d="M${INSET.left} ${y(value)}H${right}" stroke="#e5e6e7"/><text x="${INSET.left - 5}" y="${Number(y(value)) + 4}" text-anchor="end" fill="#555">${format(value, unit)}</text>`,
    ),
  ];
  if (shown.length === 0) {
    parts.push(`<text x="${width / 2}" y="${height / 2}" text-anchor="middle" fill="#888">No data</text>`);
  }
  shown.forEach(({ values }, index) => {
    const path = pathOf(values, (at) => INSET.left + (at / (values.length - 1)) * (right - INSET.left), y);
    parts.push(`<path d="${path}" fill="none" stroke="${colorOf(index)}" stroke-width="1.4"/>`);
  });
  shown.slice(0, LEGENDS).forEach(({ legend }, index) => {
    const [x, line] = [10 + (index % 2) * (width / 2 - 5), bottom + 16 + Math.floor(index / 2) * 13];
    const isLast = index === LEGENDS - 1 && shown.length > LEGENDS;
    const text = isLast ? `and ${shown.length - LEGENDS + 1} more` : legend.slice(0, 34);
    if (!isLast) parts.push(`<path d="M${x} ${line - 4}h10" stroke="${colorOf(index)}" stroke-width="3"/>`);
    parts.push(`<text x="${x + 14}" y="${line}">${escape(text)}</text>`);
  });
  return parts.join('\n');
}

function pathOf(values: readonly number[], x: (at: number) => number, y: (value: number) => string): string {
  let pen = 'M';
  return values
    .map((value, at) => {
      if (!Number.isFinite(value)) {
        pen = 'M';
        return '';
      }
      const step = `${pen}${x(at).toFixed(1)} ${y(value)}`;
      pen = 'L';
      return step;
    })
    .join('');
}

const colorOf = (index: number): string => COLORS[index % COLORS.length]!;

function format(value: number, unit: Unit): string {
  if (unit === 'percentunit') return `${Number((value * 100).toPrecision(3))} %`;
  if (unit === 'bytes') return `${Math.round(value / 2 ** 20)} MiB`;
  if (unit === 'reqps') return `${Number(value.toPrecision(3))}/s`;
  if (unit !== 's') return `${Number(value.toPrecision(3))}`;
  return value < 1 ? `${Number((value * 1_000).toPrecision(3))} ms` : `${Number(value.toPrecision(3))} s`;
}

/** The next of 1, 2, 4, 6, 10, 20, … above all of them. */
function niceMost(values: readonly number[]): number {
  const most = Math.max(0, ...values);
  if (most === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 4, 6, 10].find((step) => step * power >= most) ?? 10) * power;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

import type { Sample } from './simulation.ts';

const WIDTH = 860;
const LEFT = 56;
const RIGHT = 16;
const PANELS = { scale: { top: 56, height: 190 }, wait: { top: 292, height: 90 } };
const HEIGHT = 430;

interface Panel {
  top: number;
  height: number;
  most: number;
}

/** Demand with the instances that are asked for and that answer, over the wait that callers notice, as SVG. */
export function plotSamples(title: string, samples: readonly Sample[]): string {
  const length = samples.length;
  const x = (second: number) => LEFT + (second / length) * (WIDTH - LEFT - RIGHT);
  const scale: Panel = { ...PANELS.scale, most: niceMost(samples.flatMap((each) => [each.demand, each.desired])) };
  const wait: Panel = { ...PANELS.wait, most: niceMost(samples.map(({ longestWaitMs }) => longestWaitMs / 1_000)) };
  const y = ({ top, height, most }: Panel, value: number) => top + height - (value / most) * height;
  const line = (panel: Panel, of: (sample: Sample) => number) =>
    samples
      .map((sample, index) => {
        const [from, to] = [x(sample.second), x(sample.second + 1)].map((at) => at.toFixed(1));
        const at = y(panel, of(sample)).toFixed(1);
        return `${index === 0 ? 'M' : 'L'}${from} ${at}H${to}`;
      })
      .join('');
  const area = (panel: Panel, of: (sample: Sample) => number) => {
    const floor = y(panel, 0).toFixed(1);
    return `${line(panel, of)}V${floor}H${LEFT}Z`;
  };
  const rejected = samples.reduce((sum, sample) => sum + sample.rejected, 0);
  const worst = Math.max(...samples.map(({ longestWaitMs }) => longestWaitMs)) / 1_000;

  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="12">
  <title>${title}</title>
  <rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
  <text x="${LEFT}" y="20" font-size="14" font-weight="bold">${title}</text>
  <g>
    <rect x="${LEFT}" y="30" width="12" height="10" fill="#cfd8dc"/><text x="${LEFT + 18}" y="39">calls running and held</text>
    <path d="M${LEFT + 170} 35h14" stroke="#1565c0" stroke-width="2"/><text x="${LEFT + 190}" y="39">instances asked for</text>
    <path d="M${LEFT + 330} 35h14" stroke="#2e7d32" stroke-width="2" stroke-dasharray="4 2"/><text x="${LEFT + 350}" y="39">instances that answer</text>
  </g>
${axes(scale, y, 'instances, calls')}
  <path d="${area(scale, ({ demand }) => demand)}" fill="#cfd8dc"/>
  <path d="${line(scale, ({ desired }) => desired)}" fill="none" stroke="#1565c0" stroke-width="1.5"/>
  <path d="${line(scale, ({ ready }) => ready)}" fill="none" stroke="#2e7d32" stroke-width="1.5" stroke-dasharray="4 2"/>
  <text x="${LEFT}" y="${wait.top - 12}">longest wait for an instance, in s (at worst ${worst.toFixed(2)}); refused: ${rejected}</text>
${axes(wait, y, 's')}
  <path d="${area(wait, ({ longestWaitMs }) => longestWaitMs / 1_000)}" fill="#ef9a9a"/>
${Array.from({ length: Math.floor(length / 60) + 1 }, (_, minute) => {
  const at = x(minute * 60).toFixed(1);
  return `  <text x="${at}" y="${HEIGHT - 28}" text-anchor="middle">${minute}</text>`;
}).join('\n')}
  <text x="${WIDTH / 2}" y="${HEIGHT - 10}" text-anchor="middle">minutes</text>
</svg>
`;
}

function axes(panel: Panel, y: (panel: Panel, value: number) => number, unit: string): string {
  const marks = [0, panel.most / 2, panel.most].map((value) => {
    const at = y(panel, value).toFixed(1);
    return `  <path d="M${LEFT} ${at}H${WIDTH - RIGHT}" stroke="#e0e0e0"/><text x="${LEFT - 6}" y="${Number(at) + 4}" text-anchor="end">${Number(value.toPrecision(3))}</text>`;
  });
  const middle = panel.top + panel.height / 2;
  marks.push(`  <text transform="translate(14 ${middle}) rotate(-90)" text-anchor="middle">${unit}</text>`);
  return marks.join('\n');
}

/** The next of 1, 2, 4, 6, 10, 20, … above all of them. */
function niceMost(values: readonly number[]): number {
  const most = Math.max(...values, 0.5);
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 4, 6, 10].find((step) => step * power >= most) ?? 10) * power;
}

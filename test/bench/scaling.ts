import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { plotSamples } from '../support/scaling/plot.ts';
import { simulate } from '../support/scaling/simulation.ts';
import { TRACES } from '../support/scaling/traces.ts';

// Writes the plots of docs/scaling.md: the same each time, as nothing in them is left to chance.
for (const [name, { title, ...trace }] of Object.entries(TRACES)) {
  const samples = simulate(trace);
  const file = fileURLToPath(new URL(`../../docs/images/scaling-${name}.svg`, import.meta.url));
  await writeFile(file, plotSamples(title, samples));
  const most = Math.max(...samples.map(({ desired }) => desired));
  const worst = Math.max(...samples.map(({ longestWaitMs }) => longestWaitMs));
  const changes = samples.filter(({ desired }, index) => index > 0 && samples[index - 1]?.desired !== desired).length;
  const rejected = samples.reduce((sum, sample) => sum + sample.rejected, 0);
  console.log(`${name}: at most ${most} instances, ${changes} changes, longest wait ${worst} ms, refused ${rejected}`);
}

import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { withinTenant } from '../../src/data/tenant-scope.ts';
import { quantile, runLoop } from './load-loop.ts';
import { explain } from './size/explain.ts';
import { setSizeStage } from './size/parts.ts';
import { makePastPartitions, makeRows, TENANT, vacuum } from './size/rows.ts';
import { sealingParts } from './size/seal.ts';
import { subjectsFor } from './size/subjects.ts';
import { measureSweep } from './size/sweep.ts';

const SWEPT = 100_000;
const LOAD = { concurrency: 1, durationMs: 1_000, maxOperations: 200 };

// Times in ms of what is asked of one tenant as it grows. Run with --plans FILE for how Postgres runs each statement.
const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,100000,1000000' }, plans: { type: 'string' } },
});
const sizes = values.sizes.split(',').map(Number);

/** By request, p50 and p99 in ms for each size. */
const table = new Map<string, string[]>();
await using stage = await setSizeStage();
const { owner, parts } = stage;
await makePastPartitions(owner);
let made = 0;
for (const size of sizes) {
  await makeRows(owner, made + 1, size);
  made = size;
  await vacuum(owner);
  const subjects = await withinTenant(TENANT, () => subjectsFor(parts, size));
  const plans: string[] = [];
  for (const { name, run } of subjects) {
    await withinTenant(TENANT, () => run(sealingParts(parts)));
    const { latencies } = await withinTenant(TENANT, () => runLoop(() => run(parts), LOAD));
    const cell = `${quantile(latencies, 0.5).toFixed(1)} / ${quantile(latencies, 0.99).toFixed(1)}`;
    table.set(name, [...(table.get(name) ?? []), cell]);
    console.error(`${size} ${name}: ${cell}`);
    if (values.plans !== undefined) {
      const plan = withinTenant(TENANT, () => explain(parts.database, (on) => run({ ...parts, database: on })));
      plans.push(`== ${name}\n${await plan}`);
    }
  }
  if (values.plans !== undefined) await writeFile(values.plans, plans.join('\n'));
}
console.log(`| p50 / p99 in ms | ${sizes.map((size) => size.toLocaleString('en')).join(' | ')} |`);
console.log(`| --- | ${sizes.map(() => '---:').join(' | ')} |`);
for (const [name, cells] of table) console.log(`| ${name} | ${cells.join(' | ')} |`);
console.log(
  `\n${(await withinTenant(TENANT, () => measureSweep(parts, owner, Math.min(SWEPT, made / 2)))).join('\n')}`,
);

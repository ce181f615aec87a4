import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { isOfNode, METRICS_PAGE } from '../../support/metrics/documented.ts';
import { metricsOfRoles, type RegisteredMetric } from '../../support/metrics/of-roles.ts';

const HEADINGS = { api: 'API', operator: 'Operator', reactor: 'Instances of reactors' } as const;

function tableOf(metrics: readonly RegisteredMetric[]): string {
  const rows = metrics
    .filter(({ name }) => !isOfNode(name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, type, labels, help }) => {
      const told = labels.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${type} | ${told} | ${help.replace(/\.$/, '')} |`;
    });
  return ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

/** The page with its tables as they are to be. */
function withTables(page: string, roles: Readonly<Record<keyof typeof HEADINGS, RegisteredMetric[]>>): string {
  let written = page;
  for (const [role, heading] of Object.entries(HEADINGS)) {
    const table = new RegExp(`(\\n## ${heading}\\n(?:(?!\\n## |\\n\\|)[^])*\\n)(?:\\|[^\\n]*\\n)+`);
    if (!table.test(written)) throw new Error(`docs/metrics.md has no table under ${heading}`);
    written = written.replace(table, (_all, before: string) => before + tableOf(roles[role as keyof typeof HEADINGS]));
  }
  return written;
}

describe('docs/metrics.md', () => {
  let roles: Awaited<ReturnType<typeof metricsOfRoles>>;
  before(async () => {
    roles = await metricsOfRoles();
  });

  it('has every metric that a role may serve, and no other', async () => {
    const page = await readFile(METRICS_PAGE, 'utf8');
    const written = withTables(page, roles);
    if (process.env['TOKENKEEP_TEST_WRITE_SNAPSHOTS'] === 'true') await writeFile(METRICS_PAGE, written);
    else expect(page, 'made anew with TOKENKEEP_TEST_WRITE_SNAPSHOTS=true').to.equal(written);
  });

  it('names no label by which one of many ids would be a series', async () => {
    const labels = Object.values(roles).flatMap((metrics) => metrics.flatMap((each) => each.labels));
    const allowed = [
      ...['method', 'route', 'status', 'result', 'reason', 'state', 'kind', 'outcome', 'mode', 'operation', 'purpose'],
      ...['pool', 'cache', 'table', 'column', 'limit', 'master', 'certificate', 'version', 'role', 'condition'],
      // Of client-go and controller-runtime: a controller and its queue, a lease, the one API server, a collection.
      ...['engine', 'controller', 'name', 'priority', 'code', 'host', 'resource'],
      // Of prom-client.
      ...['major', 'minor', 'patch', 'type', 'space'],
    ];
    expect(labels.filter((label) => !allowed.includes(label))).to.deep.equal([]);
  });
});

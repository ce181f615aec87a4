import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { ROWS } from '../../config/dashboard/panels.ts';
import { buildDashboard } from '../../config/dashboard/dashboard.ts';
import { isOfNode, readDocumentedMetrics } from '../support/metrics/documented.ts';
import { metricsIn, unknownMetrics } from '../support/metrics/expressions.ts';
import { requirePromtool } from '../support/metrics/promtool.ts';

const FILE = new URL('../../charts/tokenkeep/files/dashboards/tokenkeep.json', import.meta.url);

const panels = ROWS.flatMap((row) => row.panels);
const queries = panels.flatMap((panel) => panel.queries);
/** As Grafana fills them in before it asks. */
const filledIn = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '2m').replaceAll('$namespace', 'vault|other');

describe('the dashboard of the chart', () => {
  it('is the one of config/dashboard', async () => {
    expect(JSON.parse(await readFile(FILE, 'utf8')), 'run make generate').to.deep.equal(buildDashboard());
  });

  it('asks what Prometheus understands', async function () {
    const promtool = requirePromtool(this);
    const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-dashboard-'));
    try {
      const rules = queries.map(({ expr }, index) => ({ record: `panel:query:${index}`, expr: filledIn(expr) }));
      await writeFile(join(folder, 'queries.yaml'), stringify({ groups: [{ name: 'dashboard', rules }] }));
      expect(await promtool.run(['check', 'rules', 'queries.yaml'], folder)).to.include(`${rules.length} rules found`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('asks for metrics and labels that there are', async () => {
    const documented = [...(await readDocumentedMetrics()).values()].flat();
    const labels = new Map(documented.map(({ name, labels: has }) => [name, has.split(', ')]));
    const ofTarget = ['instance', 'pod', 'le', 'namespace', 'tokenkeep_dev_reactor_id'];
    for (const { expr, legend } of queries) {
      const names = metricsIn(filledIn(expr));
      expect(names, expr).not.to.be.empty;
      const unknown = unknownMetrics(names, new Set(labels.keys())).filter((name) => !isOfNode(name));
      expect(unknown, expr).to.deep.equal([]);
      const known = [
        ...names.flatMap((name) => labels.get(name.replace(/_(?:bucket|count|sum)$/, '')) ?? labels.get(name) ?? []),
        ...ofTarget,
      ];
      const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      expect(known, legend).to.include.members(shown);
      for (const label of shown) expect(expr, 'kept by the query').to.match(new RegExp(`by \\([^)]*\\b${label}\\b`));
    }
  });

  it('says of each panel what it tells', () => {
    expect(panels).to.have.length.above(20);
    for (const { title, description } of panels) expect(description, title).to.match(/\.$/);
    expect(new Set(panels.map(({ title }) => title))).to.have.length(panels.length);
  });
});

import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { renderChart, requireHelm, templateChart } from '../support/kubernetes/helm.ts';
import { ofKind, parseManifests } from '../support/kubernetes/manifests.ts';
import { isOfNode, readDocumentedMetrics } from '../support/metrics/documented.ts';
import { metricsIn, unknownMetrics } from '../support/metrics/expressions.ts';
import { requirePromtool, type Promtool } from '../support/metrics/promtool.ts';

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

interface RuleTest {
  name: string;
  promql_expr_test: { expr: string; exp_samples: unknown[] }[];
}

const ROOT = new URL('../../', import.meta.url);
const RULES = 'charts/tokenkeep/files/alerts.yaml';
const TESTS = 'test/chart/alerts/';

const read = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8');

/** The text under each heading of the second level. */
function sectionsOf(page: string): Map<string, string> {
  const [, ...parts] = page.split(/^## /m);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')).trim(), part.slice(part.indexOf('\n'))]));
}

/** Those that a section gives, one a line. */
function commandsIn(section: string): string[] {
  return /```sh\n([^`]+)```/.exec(section)?.[1]?.replaceAll('\\\n', ' ').trim().split('\n') ?? [];
}

describe('the alerts of the chart', () => {
  let promtool: Promtool;
  let rules: Rule[];
  let alerts: (Rule & { alert: string })[];
  let tests: RuleTest[];
  let files: string[];

  before(async function () {
    promtool = requirePromtool(this);
    const { groups } = parse(await read(RULES)) as { groups: { rules: Rule[] }[] };
    rules = groups.flatMap((group) => group.rules);
    alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);
    files = (await readdir(new URL(TESTS, ROOT))).filter((file) => file.endsWith('.yaml')).sort();
    const parsed = await Promise.all(
      files.map(async (file) => parse(await read(TESTS + file)) as { tests: RuleTest[] }),
    );
    tests = parsed.flatMap((file) => file.tests);
  });

  it('are rules as Prometheus takes them', async () => {
    expect(await promtool.run(['check', 'rules', RULES], fileURLToPath(ROOT))).to.include('SUCCESS');
  });

  it('fire when they should, and not else', async () => {
    const said = await promtool.run(['test', 'rules', ...files], fileURLToPath(new URL(TESTS, ROOT)));
    expect(said.match(/SUCCESS/g)).to.have.length(files.length);
  });

  it('have tests in which they fire, and tests in which they do not', () => {
    const asks = (alert: string, fires: boolean) =>
      tests.some((test) =>
        test.promql_expr_test.some(
          ({ expr, exp_samples: samples }) =>
            expr.includes(`alertname="${alert}"`) &&
            expr.includes('alertstate="firing"') &&
            samples.length > 0 === fires,
        ),
      );
    const found = alerts.map(({ alert }) => ({ alert, fires: asks(alert, true), quiet: asks(alert, false) }));
    expect(found).to.deep.equal(alerts.map(({ alert }) => ({ alert, fires: true, quiet: true })));
  });

  it('read metrics that there are', async () => {
    const documented = [...(await readDocumentedMetrics()).values()].flat().map(({ name }) => name);
    const known = new Set([...documented, ...rules.flatMap(({ record }) => record ?? [])]);
    for (const { alert, record, expr } of rules) {
      const names = metricsIn(expr);
      expect(names, alert ?? record).not.to.be.empty;
      const unknown = unknownMetrics(names, known).filter((name) => !isOfNode(name));
      expect(unknown, alert ?? record).to.deep.equal([]);
    }
  });

  it('say how bad it is, what it means, and where to read on', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(labels?.['severity'], alert).to.match(/^(?:critical|warning)$/);
      expect(Object.keys(annotations ?? {}), alert).to.have.members(['summary', 'description', 'runbook']);
      expect(annotations?.['runbook']).to.equal(`docs/runbooks.md#${alert.toLowerCase()}`);
    }
  });

  it('have a section each in docs/runbooks.md: meaning, impact, and three commands to begin with', async () => {
    const sections = sectionsOf(await read('docs/runbooks.md'));
    expect([...sections.keys()]).to.deep.equal(alerts.map(({ alert }) => alert));
    for (const [alert, text] of sections) {
      expect(text, alert).to.match(/\*\*Meaning\.\*\*/);
      expect(text, alert).to.match(/\*\*Impact\.\*\*/);
      expect(commandsIn(text), alert).to.have.length(3);
    }
  });

  it('have commands that look at the cluster, and at more of a log than the ten lines that kubectl shows', async () => {
    const commands = [...sectionsOf(await read('docs/runbooks.md')).values()].flatMap(commandsIn);
    expect(commands.filter((command) => command.startsWith('tokenkeep '))).to.deep.equal([]);
    const logs = commands.filter((command) => command.startsWith('kubectl logs '));
    expect(logs).to.have.length.above(10);
    expect(logs.filter((command) => !/ --tail=(?:-1|[2-9]\d) /.test(command))).to.deep.equal([]);
  });
});

describe('the alerts that the chart renders', () => {
  before(async function () {
    await requireHelm(this);
  });

  const metrics = (runbooksUrl: string) => ({
    metrics: { renderMode: 'alwaysRender', prometheusRule: { enabled: true, runbooksUrl } },
  });

  async function rendered(runbooksUrl: string): Promise<Rule[]> {
    const [rule] = ofKind('PrometheusRule', parseManifests(await renderChart(metrics(runbooksUrl))));
    const groups = rule!.spec!['groups'] as { rules: Rule[] }[];
    return groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
  }

  it('link to the runbooks at the address that the values name, by the usual annotation', async () => {
    const page = 'https://git.example/tokenkeep/blob/v1/docs/runbooks.md';
    const found = await rendered(page);
    expect(found).to.have.length.above(20);
    for (const { alert, annotations } of found) {
      expect(annotations, alert).to.include({ runbook_url: `${page}#${alert!.toLowerCase()}` });
      expect(annotations, alert).not.to.have.property('runbook');
    }
  });

  it('name the section where nobody has told an address, and take none that is not one', async () => {
    for (const { alert, annotations } of await rendered('')) {
      expect(annotations, alert).to.include({ runbook: `docs/runbooks.md#${alert!.toLowerCase()}` });
    }
    for (const address of ['docs/runbooks.md', 'https://git.example/a b', 'https://git.example/#a']) {
      expect((await templateChart(metrics(address))).stderr, address).to.include('runbooksUrl');
    }
  });
});

describe('the metrics in an expression', () => {
  for (const [expression, names] of Object.entries({
    'up == 0': ['up'],
    'sum by (a, b) (rate(x_total{c="y{"}[5m])) / count(z)': ['x_total', 'z'],
    'x offset 1h unless on (job) y:ratio5m > 2': ['x', 'y:ratio5m'],
    'histogram_quantile(0.99, sum(rate(d_bucket[5m])) by (le)) and time() - s > 1e3': ['d_bucket', 's'],
  })) {
    it(`are found in ${expression}`, () => {
      expect(metricsIn(expression)).to.deep.equal(names);
    });
  }

  it('are told apart from those that nobody knows', () => {
    expect(unknownMetrics(['x_total', 'd_bucket', 'y'], new Set(['x_total', 'd']))).to.deep.equal(['y']);
  });
});

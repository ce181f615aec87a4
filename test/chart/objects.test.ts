import { expect } from 'chai';
import { NEEDED_VALUES, RELEASE, renderChart, requireHelm, templateChart } from '../support/kubernetes/helm.ts';
import { ofKind, parseManifests, podsIn } from '../support/kubernetes/manifests.ts';
import { VALUE_SETS } from './value-sets.ts';

describe('objects of the chart', () => {
  before(async function () {
    await requireHelm(this);
  });

  it('have the labels of the values, and so have their pods', async () => {
    const { fullnameOverride: _left, extraObjects: _right, crds: _kept, ...values } = VALUE_SETS.everything;
    for (const mode of ['Hook', 'Manual']) {
      const rendered = parseManifests(await renderChart({ ...values, migrations: { mode } }));
      const all = rendered.map(({ kind, metadata }) => [kind, metadata.labels] as const);
      const pods = podsIn(rendered).map(({ origin, labels }) => [origin, labels] as const);
      for (const [what, labels] of [...all, ...pods]) {
        expect(labels, `${mode} ${what}`).to.include(values.commonLabels);
      }
    }
  });

  it('have names that a Service can have, or are refused', async () => {
    const release = { ...RELEASE, name: 'r'.repeat(53) };
    for (const values of [{}, { fullnameOverride: 'b'.repeat(46) }]) {
      const services = ofKind('Service', parseManifests(await renderChart(values, release)));
      for (const { metadata } of services) expect(metadata.name).to.match(/^[a-z][-a-z0-9]{0,61}[a-z0-9]$/);
    }
    for (const name of ['my.rel', '1st']) {
      const { stderr } = await templateChart(NEEDED_VALUES, { ...RELEASE, name });
      expect(stderr).to.include('fullnameOverride: must be given');
    }
  });
});

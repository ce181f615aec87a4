import { ROWS } from './panels.ts';
import type { Panel } from './queries.ts';

/** Of Grafana's grid, which is 24 wide: three panels a line. */
const SIZE = { w: 8, h: 7 };
const PER_LINE = 3;
/** Of Grafana 10. Newer ones bring it up to date by themselves. */
const SCHEMA_VERSION = 38;

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The dashboard as Grafana imports it. */
export function buildDashboard(): object {
  let y = 0;
  let id = 0;
  const panels: object[] = [];
  for (const { title, panels: shown } of ROWS) {
    panels.push({ id: ++id, type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: 24, h: 1 }, panels: [] });
    shown.forEach((panel, index) => {
      const at = { x: (index % PER_LINE) * SIZE.w, y: y + Math.floor(index / PER_LINE) * SIZE.h };
      panels.push(timeSeries(panel, ++id, at));
    });
    y += Math.ceil(shown.length / PER_LINE) * SIZE.h;
  }
  return {
    uid: 'tokenkeep',
    title: 'Tokenkeep',
    tags: ['tokenkeep'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [datasourceVariable(), namespaceVariable()] },
    panels,
  };
}

function timeSeries({ title, description, unit, queries }: Panel, id: number, at: { x: number; y: number }): object {
  return {
    ...{ id, type: 'timeseries', title, description, datasource: DATASOURCE },
    gridPos: { ...at, ...SIZE },
    fieldConfig: { defaults: { unit, min: 0, custom: { lineWidth: 1, fillOpacity: 10 } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expr, legend }, index) => ({
      ...{ refId: String.fromCharCode(65 + index), datasource: DATASOURCE, expr, legendFormat: legend, range: true },
    })),
  };
}

function datasourceVariable(): object {
  return { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', hide: 0 };
}

function namespaceVariable(): object {
  const query = 'label_values(tokenkeep_build_info, namespace)';
  return {
    ...{ name: 'namespace', label: 'Namespace', type: 'query', datasource: DATASOURCE, query, refresh: 2 },
    ...{ includeAll: true, allValue: '.*', multi: true, current: { text: 'All', value: '$__all' } },
  };
}

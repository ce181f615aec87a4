/** How a number is shown; the names are Grafana's. */
export type Unit = 'reqps' | 'percentunit' | 's' | 'short' | 'none' | 'bytes';

export interface Query {
  readonly expr: string;
  /** `{{label}}` stands for a label. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** What one learns from it, and when to worry. */
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Of the chosen installation, which may be several namespaces, or none where Prometheus has no such label. */
export const AT = 'namespace=~"$namespace"';
export const RATE = '[$__rate_interval]';

export const quantiles = (metric: string, by = '', selector = ''): Query[] =>
  [0.5, 0.99].map((part) => ({
    expr: `histogram_quantile(${part}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket{${AT}${selector}}${RATE})))`,
    legend: `p${part * 100}${by === '' ? '' : ` {{${by}}}`}`,
  }));

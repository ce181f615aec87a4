import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Makes metrics under the program's prefix, in a registry of its own. */
export interface Metrics {
  readonly registry: Registry;
  counter<L extends string = never>(definition: MetricDefinition<L>): Counter<L>;
  gauge<L extends string = never>(definition: MetricDefinition<L>): Gauge<L>;
  histogram<L extends string = never>(definition: HistogramDefinition<L>): Histogram<L>;
}

export interface MetricDefinition<L extends string> {
  /** Without prefix, with its unit: `requests_total`, `request_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  /** Label values come from closed sets. Ids are refused: each value of a label is one more series to keep. */
  readonly labels?: readonly L[];
}

export interface HistogramDefinition<L extends string> extends MetricDefinition<L> {
  /** Upper bounds, ascending. By default from 1 ms to 10 s, as suits a request's duration in seconds. */
  readonly buckets?: readonly number[];
}

const PREFIX = 'tokenkeep_';

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Gauges that are named like counters; what they sum up is there by type. */
const MISNAMED_SUMS = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Holds the standard metrics of a Node process under their standard names, and whatever is made through it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const sum of MISNAMED_SUMS) registry.removeSingleMetric(sum);
  return {
    registry,
    counter: (definition) => new Counter(configuration(definition, registry)),
    gauge: (definition) => new Gauge(configuration(definition, registry)),
    histogram: (definition) =>
      new Histogram({
        ...configuration(definition, registry),
        buckets: [...(definition.buckets ?? DURATION_BUCKETS)],
      }),
  };
}

function configuration<L extends string>(definition: MetricDefinition<L>, registry: Registry) {
  const labelNames = [...(definition.labels ?? [])];
  const id = labelNames.find((label) => /(^|_)id$/i.test(label));
  if (id !== undefined) throw new Error(`metric ${definition.name}: an id must not be a label (${id})`);
  return { name: PREFIX + definition.name, help: definition.help, labelNames, registers: [registry] };
}

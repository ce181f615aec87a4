import { AT, quantiles, RATE, type Row } from './queries.ts';

/** Told by instances, which are named by the labels of their pods; they may be in a namespace of their own. */
const TOOK = 'tokenkeep_instance_invocation_duration_seconds';
const BY_REACTOR = 'tokenkeep_dev_reactor_id';
const REACTOR = `{{${BY_REACTOR}}}`;
const OF_PODS = 'where `metrics.reactorMonitor` has Prometheus keep the labels of their pods';

export const REACTORS: Row = {
  title: 'Reactors',
  panels: [
    {
      title: 'Invocations by outcome',
      description: 'As callers notice them, of all reactors.',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (outcome) (rate(tokenkeep_reactor_invocation_duration_seconds_count{${AT}}${RATE})) > 0`,
          legend: '{{outcome}}',
        },
      ],
    },
    {
      title: 'Duration of invocations',
      description: 'Waiting for an instance included.',
      unit: 's',
      queries: quantiles('tokenkeep_reactor_invocation_duration_seconds', 'mode'),
    },
    {
      title: 'Running and waiting',
      description: 'Invocations, and the instances that answer.',
      unit: 'short',
      queries: [
        { expr: `sum(tokenkeep_reactor_inflight{${AT}})`, legend: 'running' },
        { expr: `sum(tokenkeep_reactor_waiting{${AT}})`, legend: 'waiting' },
        { expr: `sum(tokenkeep_reactor_ready_replicas{${AT}})`, legend: 'instances' },
      ],
    },
    {
      title: 'Invocations by reactor',
      description: `The ten that are called most, ${OF_PODS}.`,
      unit: 'reqps',
      queries: [{ expr: `topk(10, sum by (${BY_REACTOR}) (rate(${TOOK}_count${RATE})))`, legend: REACTOR }],
    },
    {
      title: 'Failures by reactor',
      description: `Calls whose code did not return, ${OF_PODS}. A custom response or a thrown error may be meant.`,
      unit: 'reqps',
      queries: [
        {
          expr: `topk(10, sum by (${BY_REACTOR}, outcome) (rate(${TOOK}_count{outcome!="returned"}${RATE})) > 0)`,
          legend: `{{outcome}} ${REACTOR}`,
        },
      ],
    },
    {
      title: 'Duration by reactor',
      description: `The 99th percentile of the ten that take longest, ${OF_PODS}, without the wait for an instance.`,
      unit: 's',
      queries: [
        {
          expr: `topk(10, histogram_quantile(0.99, sum by (le, ${BY_REACTOR}) (rate(${TOOK}_bucket${RATE}))))`,
          legend: REACTOR,
        },
      ],
    },
    {
      title: 'Invocations by instance',
      description: 'Of instances in pods: uneven where one is sick.',
      unit: 'reqps',
      queries: [
        {
          expr: `topk(10, sum by (pod) (rate(${TOOK}_count${RATE})))`,
          legend: '{{pod}}',
        },
      ],
    },
    {
      title: 'Asynchronous invocations',
      description: 'Waiting to run, running, and done and to be delivered; of all replicas.',
      unit: 'short',
      queries: [{ expr: `max by (state) (tokenkeep_asynchronous_invocations{${AT}})`, legend: '{{state}}' }],
    },
    {
      title: 'Attempts to deliver results',
      description: 'By result.',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (result) (rate(tokenkeep_callback_attempts_total{${AT}}${RATE}))`,
          legend: '{{result}}',
        },
      ],
    },
  ],
};

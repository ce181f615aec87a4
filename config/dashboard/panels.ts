import { AT, quantiles, RATE, type Row } from './queries.ts';
import { REACTORS } from './reactor-panels.ts';

const http = (selector = '') => `tokenkeep_http_request_duration_seconds_count{${AT}${selector}}${RATE}`;

export const ROWS: readonly Row[] = [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by route',
        description: 'What callers ask for.',
        unit: 'reqps',
        queries: [{ expr: `sum by (method, route) (rate(${http()}))`, legend: '{{method}} {{route}}' }],
      },
      {
        title: 'Failures by route',
        description: 'Answers from 500 on. Of /reactors/{id}/react, these may be the code of a reactor.',
        unit: 'reqps',
        queries: [
          { expr: `sum by (route, status) (rate(${http(', status=~"5.."')}))`, legend: '{{status}} {{route}}' },
        ],
      },
      {
        title: 'Duration',
        description: 'Of requests that run no code of reactors.',
        unit: 's',
        queries: quantiles('tokenkeep_http_request_duration_seconds', '', ', route!="/reactors/{id}/react"'),
      },
      {
        title: 'Requests by replica',
        description: 'Uneven: a replica is sick, or connections stick to it.',
        unit: 'reqps',
        queries: [{ expr: `sum by (instance) (rate(${http()}))`, legend: '{{instance}}' }],
      },
      {
        title: 'Refused by rate limits',
        description: 'Answers 429, by the limit.',
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (limit) (rate(tokenkeep_rate_limited_requests_total{${AT}}${RATE}))`,
            legend: '{{limit}}',
          },
        ],
      },
      {
        title: 'Under way',
        description: 'Requests being handled, and broad reads and large pages that wait for their turn.',
        unit: 'short',
        queries: [
          { expr: `sum(tokenkeep_http_requests_in_flight{${AT}})`, legend: 'requests' },
          { expr: `sum(tokenkeep_broad_reads{${AT}, state="waiting"})`, legend: 'broad reads waiting' },
          { expr: `sum(tokenkeep_large_pages{${AT}, state="waiting"})`, legend: 'large pages waiting' },
        ],
      },
    ],
  },
  {
    title: 'Postgres and key management',
    panels: [
      {
        title: 'Duration of statements',
        description: 'As the vault sees it, by pool.',
        unit: 's',
        queries: quantiles('tokenkeep_postgres_statement_duration_seconds', 'pool'),
      },
      {
        title: 'Connections',
        description: 'Callers that wait for longer than moments mean too few connections, or a database that is slow.',
        unit: 'short',
        queries: [
          { expr: `sum by (pool) (tokenkeep_postgres_connections{${AT}, state="busy"})`, legend: '{{pool}} busy' },
          { expr: `sum by (pool) (tokenkeep_postgres_connections_max{${AT}})`, legend: '{{pool}} at most' },
          { expr: `sum by (pool) (tokenkeep_postgres_callers_waiting{${AT}})`, legend: '{{pool}} waiting' },
        ],
      },
      {
        title: 'Key management',
        description: 'How long operations take. Few are needed: unwrapped data keys serve for five minutes.',
        unit: 's',
        queries: quantiles('tokenkeep_key_management_request_duration_seconds', 'operation'),
      },
      {
        title: 'Hits of caches',
        description: 'The part of look-ups that needed no read of the database.',
        unit: 'percentunit',
        queries: [
          {
            expr: `sum by (cache) (rate(tokenkeep_cache_lookups_total{${AT}, result="hit"}${RATE})) / sum by (cache) (rate(tokenkeep_cache_lookups_total{${AT}}${RATE}))`,
            legend: '{{cache}}',
          },
        ],
      },
      {
        title: 'Age of keys',
        description: 'Of the current version of each master key, and of the data key that has been active for longest.',
        unit: 's',
        queries: [
          { expr: `max by (master) (tokenkeep_master_key_age_seconds{${AT}})`, legend: 'master key {{master}}' },
          {
            expr: `max by (purpose) (tokenkeep_data_key_oldest_active_seconds{${AT}, purpose=~"data|cvc"})`,
            legend: 'data key {{purpose}}',
          },
        ],
      },
      {
        title: 'Most used data key',
        description: 'Encryptions reserved, of the 2^28 after which a data key is replaced.',
        unit: 'percentunit',
        queries: [
          {
            expr: `max by (purpose) (tokenkeep_data_key_most_uses{${AT}, purpose=~"data|cvc"}) / 2^28`,
            legend: '{{purpose}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Log and upkeep',
    panels: [
      {
        title: 'Log entries waiting to be chained',
        description: 'How long the oldest one has waited. Usual are moments.',
        unit: 's',
        queries: [{ expr: `max(tokenkeep_audit_unlinked_age_seconds{${AT}})`, legend: 'oldest' }],
      },
      {
        title: 'Swept',
        description: 'Rows removed, by kind.',
        unit: 'short',
        queries: [{ expr: `sum by (kind) (increase(tokenkeep_swept_total{${AT}}${RATE})) > 0`, legend: '{{kind}}' }],
      },
      {
        title: 'Failed attempts',
        description: 'To sweep, to chain and to read what is sealed. None is usual.',
        unit: 'short',
        queries: [
          { expr: `sum(increase(tokenkeep_sweep_failures_total{${AT}}${RATE}))`, legend: 'sweeps' },
          { expr: `sum(increase(tokenkeep_audit_chain_failures_total{${AT}}${RATE}))`, legend: 'audit chain' },
          { expr: `sum(tokenkeep_seal_broken_total{${AT}}) or vector(0)`, legend: 'damaged values, in all' },
        ],
      },
    ],
  },
  REACTORS,
  {
    title: 'Operator and processes',
    panels: [
      {
        title: 'Resources that are not ready',
        description: 'By kind and reason.',
        unit: 'short',
        queries: [
          {
            expr: `max by (kind, reason) (tokenkeep_resource_not_ready{${AT}})`,
            legend: '{{kind}}: {{reason}}',
          },
        ],
      },
      {
        title: 'Reconciliations',
        description: 'By controller and result.',
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (controller, result) (rate(controller_runtime_reconcile_total{${AT}}${RATE}) and on (job, instance) tokenkeep_build_info{${AT}}) > 0`,
            legend: '{{controller}} {{result}}',
          },
        ],
      },
      {
        title: 'Waiting in queues',
        description: 'Resources that wait for the operator, by controller.',
        unit: 'short',
        queries: [
          {
            expr: `sum by (name) (workqueue_depth{${AT}} and on (job, instance) tokenkeep_build_info{${AT}})`,
            legend: '{{name}}',
          },
        ],
      },
      {
        title: 'CPU',
        description: 'Cores in use, by process.',
        unit: 'short',
        queries: [
          {
            expr: `sum by (instance) (rate(process_cpu_seconds_total{${AT}}${RATE}) and on (job, instance) tokenkeep_build_info{${AT}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Memory',
        description: 'Resident, by process.',
        unit: 'bytes',
        queries: [
          {
            expr: `sum by (instance) (process_resident_memory_bytes{${AT}} and on (job, instance) tokenkeep_build_info{${AT}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Delay of the event loop',
        description: 'For how long a process does not get to the next request.',
        unit: 's',
        queries: [
          {
            expr: `max by (instance) (nodejs_eventloop_lag_p99_seconds{${AT}} and on (job, instance) tokenkeep_build_info{${AT}})`,
            legend: '{{instance}}',
          },
        ],
      },
    ],
  },
];

import { egressEntries } from '../../domain/egress.ts';
import type { EgressEntry, EgressPolicy } from '../../domain/egress.ts';
import { blocksOf } from '../../domain/egress-addresses.ts';
import type { ReactorWorkload } from '../../domain/declarations.ts';
import { CHECKER_LABELS, CHECKER_NAME, CHECKER_SELECTOR, labelsOf, selectorOf, workloadName } from './names.ts';
import { partOf, withDigest } from './parts.ts';
import type { Part } from './parts.ts';
import { HEALTH_PORT, SERVICE_PORT } from './pod.ts';

/** The pods of the API: who calls instances, and whom `svc` calls. */
export interface ApiPods {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the public API by TLS. The internal one is never opened to instances. */
  readonly port: number;
}

/** Who gets in to the pods of reactors. */
export interface Callers extends ApiPods {
  /** Namespaces whose pods may read metrics, which are on the port of the health; none by default. */
  readonly metricsNamespaces?: readonly string[] | undefined;
}

interface Rule {
  to: object[];
  ports: object[];
}

/** Kubernetes gives each namespace this label. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** Where NodeLocal DNSCache answers. */
const NODE_LOCAL_DNS = '169.254.20.10/32';

/**
 * The second wall around a reactor, for when the first, which the supervisor is, falls: only the API gets in, and to
 * metrics whom they are for, and out goes what the policy leaves. It knows addresses and ports, not names:
 * docs/kubernetes.md says what that leaves open.
 */
export function buildNetworkPolicy(workload: ReactorWorkload, api: Callers): Part {
  const { egress } = workload;
  return policyOf(workloadName(workload), labelsOf(workload), selectorOf(workload), api, [
    dns(),
    { to: [podsOf(api)], ports: [tcp(api.port)] },
    ...(egress === undefined ? [publicHttps()] : rulesOf(egress)),
  ]);
}

/** What checks code needs nothing from the network. */
export function buildCheckerPolicy(api: Callers): Part {
  return policyOf(CHECKER_NAME, CHECKER_LABELS, CHECKER_SELECTOR, api, []);
}

function policyOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
  api: Callers,
  egress: Rule[],
): Part {
  return withDigest({
    ...partOf('NetworkPolicy', name, labels),
    spec: {
      podSelector: { matchLabels: { ...selector } },
      policyTypes: ['Ingress', 'Egress'],
      // Probes come from the node, which is always let in.
      ingress: [{ from: [podsOf(api)], ports: [tcp(SERVICE_PORT)] }, ...metricsRules(api)],
      egress,
    },
  });
}

function metricsRules({ metricsNamespaces = [] }: Callers): object[] {
  if (metricsNamespaces.length === 0) return [];
  const from = metricsNamespaces.map((namespace) => ({
    namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: namespace } },
  }));
  return [{ from, ports: [tcp(HEALTH_PORT)] }];
}

function podsOf({ namespace, labels }: ApiPods) {
  return {
    namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: namespace } },
    podSelector: { matchLabels: { ...labels } },
  };
}

function dns(): Rule {
  return {
    to: [
      { namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: 'kube-system' } } },
      { ipBlock: { cidr: NODE_LOCAL_DNS } },
    ],
    ports: [{ protocol: 'UDP', port: 53 }, tcp(53)],
  };
}

function publicHttps(): Rule {
  return { to: ipBlocksOf('public'), ports: [tcp(443)] };
}

/** A name may have any address, of the cluster too: its rule says which port. */
function rulesOf(policy: EgressPolicy): Rule[] {
  const entries = egressEntries(policy);
  const addresses = entries.filter(({ kind }) => kind === 'address');
  const named = entries.filter(({ kind }) => kind !== 'address');
  return [
    ...(named.length === 0 ? [] : [{ to: ipBlocksOf('any'), ports: portsOf(named) }]),
    ...addresses.map(({ host, port }) => ({ to: [{ ipBlock: { cidr: blockOf(host) } }], ports: [tcp(port)] })),
  ];
}

/** The addresses that the supervisor lets through, by the same table. */
function ipBlocksOf(reach: 'public' | 'any'): object[] {
  return blocksOf(reach).map((ipBlock) => ({ ipBlock }));
}

function portsOf(entries: readonly EgressEntry[]): object[] {
  return [...new Set(entries.map(({ port }) => port))].sort((a, b) => a - b).map(tcp);
}

function blockOf(address: string): string {
  return address.includes(':') ? `${address}/128` : `${address}/32`;
}

function tcp(port: number) {
  return { protocol: 'TCP', port };
}

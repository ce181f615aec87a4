import { BlockList, isIPv6 } from 'node:net';
import type { Manifest } from './manifests.ts';

/** One end of a connection: a pod, or an address outside of the cluster. */
export type End =
  { readonly namespace: string; readonly labels: Readonly<Record<string, string>> } | { readonly address: string };

interface Selector {
  matchLabels?: Record<string, string>;
}

interface Peer {
  ipBlock?: { cidr: string; except?: string[] };
  namespaceSelector?: Selector;
  podSelector?: Selector;
}

interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { protocol: string; port: number }[];
}

interface PolicySpec {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}

/** Whether a network plugin that goes by these policies lets a TCP connection through: both of its ends must. */
export function connects(policies: readonly Manifest[], from: End, to: End, port: number): boolean {
  return leaves(policies, from, to, port) && enters(policies, from, to, port);
}

function leaves(policies: readonly Manifest[], from: End, to: End, port: number): boolean {
  const specs = specsFor(policies, from, 'Egress');
  return specs === undefined || specs.some(([home, { egress = [] }]) => allows(egress, 'to', home, to, port));
}

function enters(policies: readonly Manifest[], from: End, to: End, port: number): boolean {
  const specs = specsFor(policies, to, 'Ingress');
  return specs === undefined || specs.some(([home, { ingress = [] }]) => allows(ingress, 'from', home, from, port));
}

/** The policies that a pod is under, with their namespace; undefined where there is none, and everything is let through. */
function specsFor(policies: readonly Manifest[], end: End, type: string): [string, PolicySpec][] | undefined {
  if ('address' in end) return undefined;
  const found = policies.flatMap(({ metadata, spec }): [string, PolicySpec][] => {
    const policy = spec as unknown as PolicySpec;
    const isOver = metadata.namespace === end.namespace && selects(policy.podSelector, end.labels);
    return isOver && policy.policyTypes.includes(type) ? [[end.namespace, policy]] : [];
  });
  return found.length === 0 ? undefined : found;
}

function allows(rules: readonly Rule[], side: 'from' | 'to', home: string, other: End, port: number): boolean {
  return rules.some((rule) => {
    // An empty list is as good as none: all ports, all peers.
    const { ports, [side]: peers } = rule;
    const isPort = isEmpty(ports) || ports.some((each) => each.port === port && each.protocol === 'TCP');
    return isPort && (isEmpty(peers) || peers.some((peer) => isPeer(peer, home, other)));
  });
}

function isEmpty(list: readonly unknown[] | null | undefined): list is null | undefined {
  return (list ?? []).length === 0;
}

function isPeer({ ipBlock, namespaceSelector, podSelector }: Peer, home: string, other: End): boolean {
  if ('address' in other) {
    if (ipBlock === undefined || !includes(ipBlock.cidr, other.address)) return false;
    return !(ipBlock.except ?? []).some((except) => includes(except, other.address));
  }
  if (ipBlock !== undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? other.namespace === home
      : selects(namespaceSelector, { 'kubernetes.io/metadata.name': other.namespace });
  return isNamespace && (podSelector === undefined || selects(podSelector, other.labels));
}

function selects({ matchLabels = {} }: Selector, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}

function includes(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  if (isIPv6(network) !== isIPv6(address)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4');
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

import { canonicalJson } from './canonical-json.ts';
import { digestOf } from './certificates.ts';
import { RENDERED_ANNOTATION } from './names.ts';

/** Kinds that make up a workload, with where the API has them. */
export const PART_KINDS = {
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  Service: { group: '', version: 'v1', plural: 'services' },
  Secret: { group: '', version: 'v1', plural: 'secrets' },
  NetworkPolicy: { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies' },
  PodDisruptionBudget: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' },
} as const;

export type PartKind = keyof typeof PART_KINDS;

/** An object as we want it to be. What is not named in it is left to others, but for what they add to `spec`. */
export interface Part {
  apiVersion: string;
  kind: PartKind;
  metadata: {
    name: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [field: string]: unknown;
}

/** Begins a part of a kind; the namespace follows from where it is applied. */
export function partOf(kind: PartKind, name: string, labels: Readonly<Record<string, string>>) {
  const { group, version } = PART_KINDS[kind];
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { name, labels: { ...labels } },
  };
}

/** The object with the digest of itself. Not for Secrets: a digest of theirs would let a guess be confirmed. */
export function withDigest<T extends Pick<Part, 'metadata'>>(part: T): T {
  const annotations = { ...part.metadata.annotations, [RENDERED_ANNOTATION]: digestOf(canonicalJson(part)) };
  return { ...part, metadata: { ...part.metadata, annotations } };
}

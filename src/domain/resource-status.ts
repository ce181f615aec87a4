/** The kstatus conditions, and `Paused` while the pause annotation stops reconciling. */
export type ConditionType = 'Ready' | 'Reconciling' | 'Stalled' | 'Paused';

/** One aspect of a resource's state, as Kubernetes' API conventions shape it. */
export interface Condition {
  type: ConditionType;
  status: 'True' | 'False' | 'Unknown';
  /** CamelCase, from a closed list: for programs. */
  reason: string;
  /** For people. */
  message: string;
  observedGeneration: number;
  /** ISO 8601: when `status` last changed. */
  lastTransitionTime: string;
}

/** One fault of a document: where it is, and what is wrong. */
export interface RefusalReason {
  /** 1-based line in the file. */
  line: number;
  /** `spec.rules[0].transform`; empty for the whole document. */
  path: string;
  message: string;
}

/** A document of a manifests folder that is not in force. */
export interface RefusedDocument {
  /** Relative to the manifests folder. */
  file: string;
  /** 1-based line where the document begins. */
  line: number;
  /** As far as it can be read: `Application payments/checkout`. */
  subject?: string;
  reasons: RefusalReason[];
}

/** What `tokenkeep status` shows of one resource. */
export interface ReportedResource {
  kind: string;
  namespace: string;
  name: string;
  creationTimestamp: string;
  /** The printer columns of the resource's CRD, in order, with their values as text. */
  columns: { name: string; value: string }[];
  conditions: Condition[];
}

/** The part of `<data-dir>/status.json` that is for readers. */
export interface StatusReport {
  version: 1;
  resources: ReportedResource[];
  refused: RefusedDocument[];
}

/** The name of the file beside the data that holds a StatusReport. */
export const STATUS_FILE = 'status.json';

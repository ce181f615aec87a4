/** `fieldsV1` of server-side apply: by `f:<name>`, `k:<members that tell items apart>`, `v:<value>`. */
export interface OwnedFields {
  [field: string]: OwnedFields;
}

/** Who has last set which fields. */
export interface ManagedFields {
  manager: string;
  subresource?: string;
  fieldsV1?: OwnedFields;
}

/** Of objects of the Kubernetes API, what the runtime looks at. */
export interface ObservedMetadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Without those of subresources. */
  managedFields?: ManagedFields[];
}

export interface ObservedPart {
  metadata: ObservedMetadata;
}

export interface ObservedCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export interface ObservedDeployment extends ObservedPart {
  spec: { replicas?: number };
  status?: {
    observedGeneration?: number;
    /** Pods of all revisions. */
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    conditions?: ObservedCondition[];
  };
}

interface Terminated {
  exitCode: number;
  reason?: string;
  message?: string;
}

export interface ContainerStatus {
  restartCount?: number;
  state?: { waiting?: { reason?: string; message?: string }; terminated?: Terminated };
  lastState?: { terminated?: Terminated };
}

export interface ObservedPod extends ObservedPart {
  status?: {
    phase?: string;
    podIP?: string;
    conditions?: ObservedCondition[];
    containerStatuses?: ContainerStatus[];
  };
}

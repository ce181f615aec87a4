import type { ReactorScaling, ScalingEngine } from '../../domain/declarations.ts';
import type { EgressPolicy } from '../../domain/egress.ts';
import type { CustomResource, ResourceStatus } from '../sources/types.ts';
import type { DeletionPolicy } from './tenant.ts';

/** As crds/reactors.yaml says, with defaults filled in. */
export interface ReactorSpec {
  displayName?: string;
  code?: string;
  codeFrom?: { configMap: { name: string; key: string } };
  configuration: Record<string, string>;
  configurationFrom: { secret: { name: string } }[];
  applicationRef?: { name: string };
  timeoutSeconds: number;
  scaling: ReactorScaling & { engine: ScalingEngine };
  resources: { limits: { memory: string } };
  egress?: EgressPolicy;
  deletionPolicy: DeletionPolicy;
}

export interface ReactorStatus extends ResourceStatus {
  id?: string;
  tenantId?: string;
  /** Instances that answer. */
  replicas?: number;
  /** Instances that are asked for. */
  desiredReplicas?: number;
  engine?: ScalingEngine;
  deletionPolicy?: DeletionPolicy;
}

export type ReactorResource = CustomResource<'Reactor', ReactorSpec, ReactorStatus>;

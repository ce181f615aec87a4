import type { AccessRule } from '../../domain/access.ts';
import type { ApplicationType } from '../../domain/applications.ts';
import type { Permission } from '../../domain/permissions.ts';
import type { CustomResource, ResourceStatus } from '../sources/types.ts';
import type { DeletionPolicy } from './tenant.ts';

/** As crds/applications.yaml says, with defaults filled in. */
export interface ApplicationSpec {
  displayName?: string;
  type: ApplicationType;
  permissions: Permission[];
  rules: AccessRule[];
  expiresAt?: string;
  key: ApplicationKeySpec;
  deletionPolicy: DeletionPolicy;
}

export interface ApplicationKeySpec {
  secretName?: string;
  rotateAfter?: string;
  overlap?: string;
  fromSecret?: { name: string; key: string };
}

export interface ApplicationStatus extends ResourceStatus {
  id?: string;
  tenantId?: string;
  /** The Secret that the operator wrote. */
  secretName?: string;
  deletionPolicy?: DeletionPolicy;
  /** The AccessRules in force. */
  accessRules?: { name: string; generation: number }[];
}

export type ApplicationResource = CustomResource<'Application', ApplicationSpec, ApplicationStatus>;

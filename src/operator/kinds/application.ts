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

/** Which AccessRule, in which version of it, the API holds for an application. */
export interface AccessRuleInForce {
  name: string;
  /** Left out by earlier versions of the operator. */
  uid?: string | undefined;
  generation: number;
}

export interface ApplicationStatus extends ResourceStatus {
  id?: string;
  tenantId?: string;
  /** The Secret that the operator wrote. */
  secretName?: string;
  /** The same Secret, where the Service Binding specification has programs look for it. */
  binding?: { name: string };
  deletionPolicy?: DeletionPolicy;
  accessRules?: AccessRuleInForce[];
}

export type ApplicationResource = CustomResource<'Application', ApplicationSpec, ApplicationStatus>;

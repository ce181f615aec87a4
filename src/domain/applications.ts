import type { AccessRule } from './access.ts';
import type { Permission } from './permissions.ts';

export const APPLICATION_TYPES = ['private', 'public', 'management'] as const;

/** Where an application's key may live: a backend, a browser or mobile client, or infrastructure code. */
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

/** A calling system. Its permissions apply everywhere; its rules are tried first (see access.ts). */
export interface Application {
  tenantId: string;
  id: string;
  name: string;
  type: ApplicationType;
  permissions: Permission[];
  rules: AccessRule[];
  expiresAt: Date | null;
  createdBy: string | null;
  createdAt: Date;
  modifiedBy: string | null;
  modifiedAt: Date | null;
}

/** What is kept of an application key: never its value. */
export interface ApplicationKey {
  tenantId: string;
  id: string;
  applicationId: string;
  createdBy: string | null;
  createdAt: Date;
  expiresAt: Date | null;
}

/** Limits of one application. */
export const APPLICATION_LIMITS = { nameLength: 200, permissions: 50, keys: 3 } as const;

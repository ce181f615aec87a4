import type { ApplicationType } from './applications.ts';

interface PermissionEntry {
  readonly description: string;
  readonly applicationTypes: readonly ApplicationType[];
}

const infrastructure = ['management'] as const;

/** Every permission, what it allows, and the application types that may hold it. */
export const PERMISSIONS = {
  'token:create': { description: 'Create tokens', applicationTypes: ['public', 'private'] },
  'token:read': { description: 'Read and detokenize tokens', applicationTypes: ['private'] },
  'token:update': { description: 'Update tokens', applicationTypes: ['public', 'private'] },
  'token:delete': { description: 'Delete tokens', applicationTypes: ['private'] },
  'token:search': { description: 'Search tokens', applicationTypes: ['private'] },
  'token:use': { description: 'Use tokens in reactors and proxies', applicationTypes: ['private'] },
  'application:create': { description: 'Create applications and their keys', applicationTypes: infrastructure },
  'application:read': { description: 'Read applications and their keys', applicationTypes: infrastructure },
  'application:update': { description: 'Update applications', applicationTypes: infrastructure },
  'application:delete': { description: 'Delete applications and their keys', applicationTypes: infrastructure },
  'reactor:create': { description: 'Create reactors', applicationTypes: infrastructure },
  'reactor:read': { description: 'Read reactors', applicationTypes: infrastructure },
  'reactor:update': { description: 'Update reactors', applicationTypes: infrastructure },
  'reactor:delete': { description: 'Delete reactors', applicationTypes: infrastructure },
  'proxy:create': { description: 'Create proxies', applicationTypes: infrastructure },
  'proxy:read': { description: 'Read proxies', applicationTypes: infrastructure },
  'proxy:update': { description: 'Update proxies', applicationTypes: infrastructure },
  'proxy:delete': { description: 'Delete proxies', applicationTypes: infrastructure },
  'log:read': { description: 'Read logs', applicationTypes: infrastructure },
  'tenant:read': { description: 'Read the tenant', applicationTypes: infrastructure },
  'tenant:update': { description: 'Update the tenant', applicationTypes: infrastructure },
  'report:read': { description: 'Read usage reports', applicationTypes: infrastructure },
  'account-updater:job:create': { description: 'Create account updater jobs', applicationTypes: infrastructure },
  'account-updater:job:read': { description: 'Read account updater jobs', applicationTypes: infrastructure },
} as const satisfies Record<string, PermissionEntry>;

export type Permission = keyof typeof PERMISSIONS;

/** Every permission's name, in the order of the table. */
export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as Permission[];

export function isPermission(name: string): name is Permission {
  return Object.hasOwn(PERMISSIONS, name);
}

/** Whether an application of this type may hold the permission. */
export function mayHold(type: ApplicationType, permission: Permission): boolean {
  return (PERMISSIONS[permission].applicationTypes as readonly ApplicationType[]).includes(type);
}

import type { AccessRule } from './access.ts';
import type { Permission } from './permissions.ts';

/**
 * A short-lived access for one browser or device. A public application creates it, and it may do nothing until a
 * private application, which learns of it by its nonce, grants it part of its own access.
 */
export interface Session {
  tenantId: string;
  id: string;
  /** The public application that created it. */
  applicationId: string;
  createdAt: Date;
  expiresAt: Date;
}

/** What a private application grants a session, for as long as it could grant the same again. */
export interface SessionGrant {
  authorizedBy: string;
  permissions: Permission[];
  /** In ascending priority. */
  rules: AccessRule[];
  /** Null: the session ends when it would have ended anyway. */
  expiresAt: Date | null;
}

export const SESSION_LIMITS = {
  /** Life of a session that is given no other end, in ms. */
  lifetimeMs: 3 * 60 * 1000,
  /** The furthest end that one can be given, in ms from its authorization: its key lies in a browser. */
  longestLifetimeMs: 24 * 60 * 60 * 1000,
} as const;

import { v5 as uuidv5 } from 'uuid';
import type { AccessRule } from './access.ts';
import type { ApplicationType } from './applications.ts';
import type { EgressPolicy } from './egress.ts';
import type { Permission } from './permissions.ts';
import type { StopReason } from './reactor-supervision.ts';
import type { Quotas, TenantSettings, TenantType } from './tenants.ts';

/**
 * What the control plane asks of the data plane over the internal API. Each is a whole desired state, put under an id
 * that follows from its name, so that a repeated request changes nothing.
 */
export type DeclaredKind = 'Tenant' | 'Application' | 'Reactor';

// The root of every declared id: a fixed, random UUID. Changing it would orphan every declared resource.
const DECLARED = '6d0b9c0e-6a8f-4a53-9a3e-0f6f3f1f7d52';

/** The name of the tenant that exists where none is declared. */
export const DEFAULT_TENANT = 'default';

/** The id of the tenant declared under this name (UUIDv5, RFC 9562). */
export function tenantIdOf(name: string): string {
  return uuidv5(`Tenant/${name}`, DECLARED);
}

/** The id of a declared resource: the same for the same tenant, kind, namespace and name, whenever it is made. */
export function declaredId(tenantId: string, kind: DeclaredKind, namespace: string, name: string): string {
  return uuidv5(`${kind}/${namespace}/${name}`, tenantId);
}

export interface TenantDeclaration {
  name: string;
  type: TenantType;
  quotas: Quotas;
  settings: TenantSettings;
  /**
   * False where no resource declares it: then name and settings are for a new tenant only, and what its own
   * applications make of them stays. Default: true.
   */
  declared?: boolean;
}

/** A key that the control plane made: its value goes to the user's Secret, only its digest comes here. */
export interface DeclaredKey {
  id: string;
  /** SHA-256 of the key's value, in lower-case hex. */
  digest: string;
  /** ISO 8601; absent for a key without an end. */
  expiresAt?: string;
}

export interface ApplicationDeclaration {
  name: string;
  type: ApplicationType;
  permissions: Permission[];
  rules: AccessRule[];
  expiresAt?: string;
  /** The declared keys in full: a declared key that is missing here is revoked. Keys made through the API stay. */
  keys: DeclaredKey[];
}

/**
 * What decides how many instances of a reactor run: the operator, by the demand; KEDA, by the same demand; or anybody
 * else, whom the operator leaves alone.
 */
export type ScalingEngine = 'Builtin' | 'KEDA' | 'External';

export const SCALING_ENGINES: readonly ScalingEngine[] = ['Builtin', 'KEDA', 'External'];

/** How many instances of a reactor run. */
export interface ReactorScaling {
  /** Absent: `Builtin`. */
  engine?: ScalingEngine;
  minReplicas: number;
  maxReplicas: number;
  /** Invocations that one instance runs at a time. */
  concurrency: number;
  /** Without any demand for this long, a reactor goes down to `minReplicas`; the last instance never sooner. */
  idleSeconds: number;
}

export const DEFAULT_SCALING: ReactorScaling = { minReplicas: 1, maxReplicas: 10, concurrency: 1, idleSeconds: 300 };

export interface ReactorDeclaration {
  name: string;
  code: string;
  configuration: Record<string, string>;
  applicationId?: string;
  timeoutSeconds: number;
  scaling: ReactorScaling;
  /** Memory of one instance, in bytes. */
  memoryBytes: number;
  /** Absent: to every public address. */
  egress?: EgressPolicy;
}

export const REACTOR_DEFAULTS = { timeoutSeconds: 30, memoryBytes: 256 * 1024 * 1024 } as const;

/** What one instance of a reactor needs to run: handed to it once, at its start. */
export interface ReactorWorkload {
  tenantId: string;
  reactorId: string;
  /** Changes whenever code, configuration, limits or egress do; an invocation asks for the one that it was made for. */
  revision: string;
  name: string;
  code: string;
  configuration: Record<string, string>;
  timeoutSeconds: number;
  scaling: ReactorScaling;
  memoryBytes: number;
  /** Where the code may send requests; absent: to every public address. */
  egress?: EgressPolicy;
}

/** A reactor by its ids. One id alone is no name: two tenants may have a reactor under the same one. */
export interface ReactorIds {
  tenantId: string;
  reactorId: string;
}

/** Every reactor of every tenant. */
export interface ReactorList {
  data: ReactorWorkload[];
  /** Of these, what is stored cannot be opened. They cannot be called, and are not gone. */
  damaged: ReactorIds[];
}

/** Where a ready instance listens, and what it asks of its caller. */
export interface ReactorInstance {
  /** `http://127.0.0.1:port`; with a `serverName`, `https://` and an IP address. */
  address: string;
  /** Bearer credential that the instance was started with; empty where certificates stand in its place. */
  credential: string;
  revision: string;
  /** The name in the instance's certificate. Present: it is called by mutual TLS. */
  serverName?: string;
}

/** One line of the internal API's change stream. */
export type DeclarationChange =
  | { kind: 'tenant' | 'application' | 'reactor'; tenantId: string; id: string }
  /** First line, and again after the stream may have missed something: everything is to be looked at. */
  | { kind: 'resync' }
  /** Invocations of a reactor wait at this replica of the API, and no instance is free for them. */
  | { kind: 'demand'; tenantId: string; reactorId: string }
  /** Every few seconds, so that a dead connection shows. */
  | { kind: 'ping' };

/** Demand for one reactor at one replica of the API. */
export interface ReactorDemand {
  tenantId: string;
  reactorId: string;
  /** Invocations running. */
  inFlight: number;
  /** Invocations held until an instance is free. */
  waiting: number;
  /** Running and held together, averaged over time: of the last 60 s, and of the last 6 s. */
  average: DemandAverage;
  /** Why its code had to be stopped again and again of late; absent while it runs well. */
  failure?: StopReason;
}

/** Invocations at a time, on average. */
export interface DemandAverage {
  /** Of the last 60 s, or since demand began where that is less. */
  stable: number;
  /** Of the last 6 s, likewise. */
  panic: number;
}

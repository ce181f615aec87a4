import { DomainError } from '../domain/errors.ts';

/** Which master key wraps a data key: card verification codes have their own, so that they can be destroyed alone. */
export type MasterKey = 'tokens' | 'cvc';

/** Of the implementations of key management; what the forms that each has wrapped begin with. */
export type KeyManagementName = 'keyring' | 'vault';

/** A new data key: 256 random bits and its wrapped form, the only form that is ever stored. */
export interface NewDataKey {
  plaintext: Buffer;
  wrapped: string;
}

/** The versions of a master key that exist: all from `oldest` to `current` unwrap, `current` alone wraps. */
export interface MasterKeyVersions {
  readonly current: number;
  readonly oldest: number;
  /** When the current version was made. */
  readonly currentSince: Date;
}

/** Key management does not answer, or not in time. Whether it is as it must be is not known until it does. */
export class KeyManagementAway extends DomainError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/**
 * Makes and unwraps data keys under master keys that never leave it. It never sees token data.
 *
 * `tenantId` is bound into the wrapped form: under another tenant it does not unwrap. Wrapped forms name the version of
 * the master key: `keyring:v3:<base64>`, `vault:v3:<base64>`.
 *
 * Every method throws a DomainError 'unavailable' for what passes or what an operator must mend: unreachable, sealed,
 * too slow, not permitted, master key gone. Its message says what to do.
 */
export interface KeyManagement {
  readonly name: KeyManagementName;
  createDataKey(master: MasterKey, tenantId: string): Promise<NewDataKey>;
  /**
   * Throws a plain Error where `wrapped` was altered, belongs to another tenant or master key, or was wrapped under a
   * version that is retired.
   */
  unwrapDataKey(master: MasterKey, tenantId: string, wrapped: string): Promise<Buffer>;
  /** Wraps a data key that was made elsewhere: for data that moves here from another key management. */
  wrapDataKey(master: MasterKey, tenantId: string, plaintext: Buffer): Promise<string>;
  /** The same data key under the current version, without giving it away. Throws as `unwrapDataKey` does. */
  rewrapDataKey(master: MasterKey, tenantId: string, wrapped: string): Promise<string>;
  versions(master: MasterKey): Promise<MasterKeyVersions>;
  /** Makes a new version of the master key; data keys wrapped under older versions still unwrap. */
  rotate(master: MasterKey): Promise<void>;
  /** Destroys every version below `oldest`, for good: what is wrapped under them never unwraps again. */
  retire(master: MasterKey, oldest: number): Promise<void>;
  /** A message authentication code under a key for nothing else, which is never retired. */
  authenticate(message: Buffer): Promise<string>;
  /** Whether `authenticate` gave `mac` for just this message. */
  verifies(message: Buffer, mac: string): Promise<boolean>;
  /** Rejects where data keys could not be unwrapped now. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Which master key wraps a data key: card verification codes have their own, so that they can be destroyed alone. */
export type MasterKey = 'tokens' | 'cvc';

/** A new data key: 256 random bits and its wrapped form, the only form that is ever stored. */
export interface NewDataKey {
  plaintext: Buffer;
  wrapped: string;
}

/**
 * Makes and unwraps data keys under master keys that never leave it. It never sees token data.
 *
 * `tenantId` is bound into the wrapped form: under another tenant it does not unwrap. Every method throws a
 * DomainError 'unavailable' while the key management cannot be reached.
 */
export interface KeyManagement {
  createDataKey(master: MasterKey, tenantId: string): Promise<NewDataKey>;
  /** Throws a plain Error where `wrapped` was altered, or belongs to another tenant or master key. */
  unwrapDataKey(master: MasterKey, tenantId: string, wrapped: string): Promise<Buffer>;
  /** Makes a new version of the master key; data keys wrapped under older versions still unwrap. */
  rotate(master: MasterKey): Promise<void>;
}

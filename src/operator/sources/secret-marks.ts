/** Labels and annotations by which the operator knows its own Secrets again. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'tokenkeep';
/** The name of the Application whose key a Secret holds. */
export const OWNER_LABEL = 'tokenkeep.dev/application';
/** SHA-256 of the key, in hex. */
export const KEY_DIGEST_ANNOTATION = 'tokenkeep.dev/key-digest';

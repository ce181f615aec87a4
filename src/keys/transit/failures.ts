/**
 * No answer that means anything: Vault is unreachable, sealed, too slow or overloaded. Another try may succeed. The
 * message holds nothing of what was sent or answered.
 */
export class VaultAway extends Error {
  override readonly name = 'VaultAway';
  /** Short, such as `ECONNREFUSED`. */
  readonly reason: string;

  constructor(reason: string) {
    super(`Vault does not answer (${reason})`);
    this.reason = reason;
  }
}

/** Vault understood and refused. Of its answer, the status alone is kept: its texts may quote what was sent. */
export class VaultRefusal extends Error {
  override readonly name = 'VaultRefusal';
  readonly status: number;

  constructor(status: number) {
    super(`Vault answered with status ${status}`);
    this.status = status;
  }
}

const PASSING_STATUSES = new Map([
  [412, 'a replica that lags behind'],
  [429, 'overloaded'],
  [472, 'a standby for disaster recovery'],
  [473, 'a standby'],
  [503, 'sealed: unseal it; or not started yet'],
]);

/** What an answer other than success means. */
export function failureOf(status: number): VaultAway | VaultRefusal {
  const passing = PASSING_STATUSES.get(status);
  if (passing !== undefined) return new VaultAway(passing);
  if (status >= 500) return new VaultAway(`status ${status}`);
  // Followed, it would hand the token to another host.
  if (status >= 300 && status < 400) return new VaultAway('a redirect, which is not followed: name the active server');
  return new VaultRefusal(status);
}

import { CERTIFICATE_LIFETIME_MS, createAuthority, digestOf, lifeOf, renewalOf } from './certificates.ts';
import type { KeyPair } from './certificates.ts';

/**
 * The authorities that instances and the API trust. A new one is trusted everywhere before it issues anything, and the
 * one before it until nothing that it issued is left.
 */
export interface Authorities {
  /** Issues what is made now. */
  readonly current: KeyPair;
  /** Takes its place soon. */
  readonly next?: KeyPair;
  /** The certificate alone: its key is gone. */
  readonly previous?: string;
}

/** How long whoever mounts a Secret may take to see it change, with a wide margin: the kubelet takes 1 to 2 min. */
export const SPREAD_MS = 60 * 60_000;

/**
 * The authorities as they are to be now: `known` itself where nothing is due. Steps are taken one at a time, so that
 * each is everywhere before the one after it.
 */
export async function rotateAuthorities(known: Authorities | undefined, nowMs: number): Promise<Authorities> {
  if (known === undefined) return { current: await createAuthority(nowMs) };
  const { current, next, previous } = known;
  // After a long absence there is nothing left to overlap with.
  if (lifeOf(current.certificate).endsAt <= nowMs) return { current: await createAuthority(nowMs) };
  if (next !== undefined && nowMs >= promotionOf(next)) return { current: next, previous: current.certificate };
  if (previous !== undefined && nowMs >= retirementOf(current)) return { current, ...(next ? { next } : {}) };
  if (next === undefined && previous === undefined && nowMs >= renewalOf(current.certificate)) {
    return { current, next: await createAuthority(nowMs) };
  }
  return known;
}

/** When the authorities next change, in ms since the epoch. */
export function nextRotation({ current, next, previous }: Authorities): number {
  if (next !== undefined) return promotionOf(next);
  return previous === undefined ? renewalOf(current.certificate) : retirementOf(current);
}

/** PEM of all certificates that are trusted: `ca.crt`. */
export function trustedBy({ current, next, previous }: Authorities): string {
  return [current.certificate, next?.certificate, previous].filter((each) => each !== undefined).join('');
}

/** Changes whenever certificates are to be issued anew: by another authority, or to be found beside another trust. */
export function stateOf(authorities: Authorities): string {
  return digestOf(trustedBy(authorities));
}

function promotionOf(next: KeyPair): number {
  return lifeOf(next.certificate).madeAt + SPREAD_MS;
}

/** What the one before issued has ended by then, also what no operator has renewed since. */
function retirementOf(current: KeyPair): number {
  return lifeOf(current.certificate).madeAt + SPREAD_MS + CERTIFICATE_LIFETIME_MS;
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import { DomainError } from '../../domain/errors.ts';

/**
 * Whose a token is: the control plane's; somebody else's, which is proven (`forbidden`); or nobody's that could be
 * proven, as of one that is made up, has expired, or was issued for another audience (`refused`).
 */
export type Verdict = 'accepted' | 'forbidden' | 'refused';

/** Who may use the internal API. */
export interface InternalAuthentication {
  /** Rejects with DomainError 'unavailable' where it cannot be found out. */
  authenticate(token: string): Promise<Verdict>;
}

/** What clients of the internal API are told to present (RFC 6750). */
export const BEARER_CHALLENGE = 'Bearer realm="tokenkeep internal"';

const REFUSALS = {
  refused: () => new DomainError('unauthenticated', 'The token is not, or no longer, one of the control plane.'),
  forbidden: () => new DomainError('forbidden', 'This token is valid, and its holder is not the control plane.'),
};

/** The one secret that both sides hold. It is read for every request: it may be replaced under way. */
export function acceptSharedSecret(readSecret: () => Promise<string>): InternalAuthentication {
  return {
    async authenticate(token) {
      return sameText(token, await readSecret()) ? 'accepted' : 'refused';
    },
  };
}

/** The bearer token of a request; throws DomainError 'unauthenticated' where it has none. */
export function bearerTokenOf(ctx: Koa.Context): string {
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(ctx.get('authorization')) ?? [];
  if (token === undefined) throw new DomainError('unauthenticated', 'The token of the control plane is required.');
  return token;
}

/** Lets the control plane through, and nobody else. */
export function requireControlPlane(authentication: InternalAuthentication): Koa.Middleware {
  return async (ctx, next) => {
    const verdict = await authentication.authenticate(bearerTokenOf(ctx));
    if (verdict !== 'accepted') throw REFUSALS[verdict]();
    await next();
  };
}

/** Takes as long whatever of the two differs. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

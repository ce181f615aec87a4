import type { KubernetesClient } from './client.ts';

/** Who holds a token that the API server vouches for. */
export interface TokenHolder {
  /** Such as `system:serviceaccount:<namespace>:<name>`. */
  readonly username: string;
  /** When the token ends, in epoch ms; Infinity where that cannot be told from it. */
  readonly endsAt: number;
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: { readonly username?: string };
  };
}

const TOKEN_REVIEWS = { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews' };

/**
 * Asks the API server whose token this is. Undefined for one that it does not vouch for, or not before this audience.
 * Rejects with a KubernetesError where it cannot be asked.
 */
export async function reviewToken(
  kubernetes: Pick<KubernetesClient, 'create'>,
  token: string,
  audience: string,
): Promise<TokenHolder | undefined> {
  const { status = {} } = await kubernetes.create<TokenReview>(TOKEN_REVIEWS, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token, audiences: [audience] },
  });
  const username = status.user?.username ?? '';
  // An authenticator that knows no audiences says yes without naming any: that is a token for the API server itself.
  const isMeant = status.authenticated === true && status.audiences?.includes(audience) === true;
  return isMeant && username !== '' ? { username, endsAt: endOf(token) } : undefined;
}

/** The claim `exp` of a JWT. Its signature is not looked at here: the API server has done so. */
function endOf(token: string): number {
  try {
    const [, payload = ''] = token.split('.');
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const { exp } = claims as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : Infinity;
  } catch {
    return Infinity;
  }
}

import { DomainError } from '../../domain/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import { reviewToken } from '../../platform/kubernetes/token-review.ts';
import type { InternalAuthentication } from './authentication.ts';
import { rememberVerdicts, type Judgement, type RememberedVerdictsOptions } from './remembered-verdicts.ts';

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

export interface ServiceAccountsOptions extends Pick<RememberedVerdictsOptions, 'acceptedMs' | 'refusedMs'> {
  readonly kubernetes: Pick<KubernetesClient, 'create'>;
  /** Those that the control plane runs as. */
  readonly accounts: readonly ServiceAccount[];
  readonly clock: Clock;
}

/** What tokens of the control plane are issued for. One that was issued for another service opens nothing here. */
export const AUDIENCE = 'tokenkeep';

/** Accepts tokens of these ServiceAccounts, as the cluster's own API judges them. */
export function acceptServiceAccounts(options: ServiceAccountsOptions): InternalAuthentication {
  const { kubernetes, accounts, ...remembering } = options;
  const users = new Set(accounts.map(({ namespace, name }) => `system:serviceaccount:${namespace}:${name}`));

  async function judge(token: string): Promise<Judgement> {
    const holder = await reviewToken(kubernetes, token, AUDIENCE).catch((error: unknown) => {
      throw unavailable(error);
    });
    if (holder === undefined) return { verdict: 'refused', endsAt: Infinity };
    return { verdict: users.has(holder.username) ? 'accepted' : 'forbidden', endsAt: holder.endsAt };
  }

  return rememberVerdicts({ judge, ...remembering });
}

/** Whoever cannot be asked has accepted nobody. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof KubernetesError)) return error;
  const isForbidden = error.status === 401 || error.status === 403;
  const reason = isForbidden
    ? 'the Kubernetes API does not let this vault review tokens: bind it to the ClusterRole system:auth-delegator'
    : 'the Kubernetes API does not answer';
  return new DomainError('unavailable', `Whose this token is cannot be found out: ${reason}.`, { cause: error });
}

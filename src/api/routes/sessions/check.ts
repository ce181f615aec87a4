import { checkAccess, checkRuleScopes } from '../../../domain/application-access.ts';
import type { Clock } from '../../../platform/clock.ts';
import { readSessionEnd, type SessionAuthorization } from '../../../services/sessions/authorize.ts';
import type { Refine } from '../../route.ts';

/** The rules of an authorization that its schema does not say. */
export function refineAuthorization(clock: Clock): Refine {
  return (members, violations, body) => {
    const { permissions = [], rules = [], expires_at: end } = members as Partial<SessionAuthorization>;
    // Where the one that grants something is faulty, the other may well be empty.
    if (permissions.length > 0 || rules.length > 0) checkAccess({ type: 'private', permissions, rules }, violations);
    checkRuleScopes(body['rules'], violations);
    readSessionEnd(end, clock.now(), violations);
  };
}

import { checkAccess, checkRuleScopes, type RequestedAccess } from '../../../domain/application-access.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type NewApplicationInput, readExpiry } from '../../../services/applications.ts';
import type { Refine } from '../../route.ts';

/** The rules of a new application that its schema does not say. Access cannot be judged without the type. */
export function refineApplication(clock: Clock): Refine {
  return (members, violations, body) => {
    const { type, permissions = [], rules = [], expires_at: expiresAt } = members as Partial<NewApplicationInput>;
    // Where the one that grants something is faulty, the other may well be empty.
    const grantsSomething = permissions.length > 0 || rules.length > 0;
    if (type !== undefined && grantsSomething) {
      checkAccess({ type, permissions, rules } satisfies RequestedAccess, violations);
    }
    checkRuleScopes(body['rules'], violations);
    readExpiry(expiresAt, clock.now(), violations);
  };
}

/** Of an update what can be judged without the type of the application. */
export const refineUpdate: Refine = (_members, violations, body) => checkRuleScopes(body['rules'], violations);

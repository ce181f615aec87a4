import { ViolationCollector } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Clock } from '../../../platform/clock.ts';
import { checkTokenForm } from '../../../services/tokens/form.ts';
import type { Refine } from '../../route.ts';
import { compileBodyCheck } from '../../validation/validator.ts';
import { createToken } from './schema.ts';

/** The rules of a new token that its schema does not say. */
export function refineToken(clock: Clock): Refine {
  return (members, violations) => checkTokenForm(members, { path: '', now: clock.now() }, violations);
}

const SOUND_ALONE = ['containers', 'search_indexes', 'fingerprint_expression', 'expires_at', 'mask'];

/**
 * Of a patch what it replaces, and the expressions of its mask, which a merge leaves as they are. What else it merges
 * must be sound together with what is there.
 */
export function refinePatch(clock: Clock): Refine {
  const refine = refineToken(clock);
  return (members, violations, body) => {
    const alone = Object.entries(members).filter(([name]) => SOUND_ALONE.includes(name));
    refine(Object.fromEntries(alone), violations, body);
  };
}

/** Checks an object that is to become a token, wherever in a payload it lies. */
export function tokenInputCheck(clock: Clock): (input: JsonObject, path: string) => void {
  const check = compileBodyCheck(createToken, refineToken(clock));
  return (input, path) => {
    const violations = new ViolationCollector();
    violations.collect(() => check(input), path);
    violations.throwIfAny();
  };
}

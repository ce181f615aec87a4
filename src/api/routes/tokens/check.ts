import { ViolationCollector } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { systemClock } from '../../../platform/clock.ts';
import { checkTokenForm } from '../../../services/tokens/form.ts';
import type { Refine } from '../../route.ts';
import { compileBodyCheck } from '../../validation/validator.ts';
import { createToken } from './schema.ts';

/** The rules of a new token that its schema does not say. */
export const refineToken: Refine = (members, violations) =>
  checkTokenForm(members, { path: '', now: systemClock.now() }, violations);

const REPLACED_BY_PATCH = ['containers', 'search_indexes', 'fingerprint_expression', 'expires_at'];

/** Of a patch only what it replaces: what it merges must be sound together with what is there. */
export const refinePatch: Refine = (members, violations) => {
  const replaced = Object.entries(members).filter(([name]) => REPLACED_BY_PATCH.includes(name));
  refineToken(Object.fromEntries(replaced), violations);
};

const check = compileBodyCheck(createToken, refineToken);

/** Checks an object that is to become a token, wherever in a payload it lies. */
export function checkTokenInput(input: JsonObject, path: string): void {
  const violations = new ViolationCollector();
  violations.collect(() => check(input), path);
  violations.throwIfAny();
}

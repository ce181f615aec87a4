import { DomainError, ViolationCollector } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { childPath } from '../../../domain/json-guard.ts';
import { compileBodyCheck } from '../../validation/validator.ts';
import { createToken } from './schema.ts';

const check = compileBodyCheck(createToken);

/** Checks an object that is to become a token, wherever in a payload it lies. */
export function checkTokenInput(input: JsonObject, path: string): void {
  try {
    check(input);
  } catch (error) {
    if (!(error instanceof DomainError) || error.violations === undefined) throw error;
    const violations = new ViolationCollector();
    for (const [field, messages] of Object.entries(error.violations)) {
      const at = field === '' ? path : childPath(path, field);
      for (const message of messages) violations.add(at, message);
    }
    violations.throwIfAny();
  }
}

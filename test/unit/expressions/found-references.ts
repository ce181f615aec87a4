import { ViolationCollector } from '../../../src/domain/errors.ts';
import type { Json } from '../../../src/domain/json.ts';
import { findReferences as find, type References } from '../../../src/expressions/references.ts';

/** What a template refers to; throws the faults that were recorded. */
export function findReferences(template: Json, path?: string): References {
  const violations = new ViolationCollector();
  const references = find(template, violations, path);
  violations.throwIfAny();
  return references;
}

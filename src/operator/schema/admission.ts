import { isJsonObject } from '../../domain/json.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { createRuleValidator } from './cel.ts';
import { withDefaults } from './defaults.ts';
import type { ResourceDefinition } from './definitions.ts';
import { createShapeValidator } from './shape.ts';
import type { Violation } from './violation.ts';

export type Verdict = { spec: JsonObject; violations?: never } | { spec?: never; violations: Violation[] };

/** Decides about a document of one kind as the Kubernetes API server would. */
export interface Admission {
  /** The spec with its defaults, or every fault. `oldSpec` is the version in force, where there is one. */
  admit: (document: JsonObject, oldSpec?: Json) => Verdict;
}

/** Compiles schema and rules of a definition. Throws where they are not sound. */
export function createAdmission(definition: ResourceDefinition): Admission {
  const { schema } = definition;
  const checkShape = createShapeValidator(schema);
  const findBrokenRules = createRuleValidator(schema);
  return {
    admit(document, oldSpec) {
      // Status is the operator's to write: what a document says of it is dropped, as by the status subresource.
      const { status: _status, ...declared } = document;
      const filled = withDefaults(schema, declared) as JsonObject;
      const { violations, allowsRules } = checkShape(filled);
      if (allowsRules) {
        violations.push(...findBrokenRules(filled, oldSpec === undefined ? undefined : { ...filled, spec: oldSpec }));
      }
      if (violations.length > 0) return { violations };
      return { spec: isJsonObject(filled['spec']) ? filled['spec'] : {} };
    },
  };
}

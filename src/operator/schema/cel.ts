import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import type { CelInput } from '@bufbuild/cel';
import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import { toCelValue } from './cel-values.ts';
import { childSchema } from './structural-schema.ts';
import type { StructuralSchema, ValidationRule } from './structural-schema.ts';
import type { Violation } from './violation.ts';

/** Finds every CEL rule that a value breaks. Without `oldValue`, rules about transitions are not asked. */
export type RuleValidator = (value: Json, oldValue?: Json) => Violation[];

type Verdict = 'holds' | 'broken' | 'failed';

interface CompiledRule {
  message: string;
  /** Steps from the value that the rule stands at to the field at fault. */
  fieldPath: string[];
  comparesVersions: boolean;
  evaluate(self: CelInput, oldSelf: CelInput | undefined): Verdict;
}

const env = celEnv();

function compile({ rule, message, fieldPath = '' }: ValidationRule): CompiledRule {
  const evaluate = plan(env, parse(rule));
  return {
    message,
    fieldPath: fieldPath.split('.').slice(1),
    comparesVersions: /\boldSelf\b/.test(rule),
    evaluate(self, oldSelf) {
      const result = evaluate(oldSelf === undefined ? { self } : { self, oldSelf });
      if (isCelError(result)) return 'failed';
      return result === true ? 'holds' : 'broken';
    },
  };
}

/** Compiles every rule of a schema. Throws where one does not parse. */
export function createRuleValidator(schema: StructuralSchema): RuleValidator {
  const compiled = new Map<ValidationRule, CompiledRule>();
  eachRule(schema, (rule) => compiled.set(rule, compile(rule)));
  return (value, oldValue) => {
    const violations: Violation[] = [];
    visit(schema, value, oldValue, [], (rule, node, oldNode, at, path) => {
      const { message, fieldPath, comparesVersions, ...check } = compiled.get(rule)!;
      if (comparesVersions && oldNode === undefined) return;
      const verdict = check.evaluate(toCelValue(at, node), oldNode === undefined ? undefined : toCelValue(at, oldNode));
      if (verdict === 'broken') violations.push({ path: [...path, ...fieldPath], message });
      // As in the API server, a rule that cannot be evaluated refuses, and no part of the value is known to be at fault.
      if (verdict === 'failed') violations.push({ path, message });
    });
    return violations;
  };
}

/** Calls `found` with each rule of a schema, parents first. */
export function eachRule(schema: StructuralSchema, found: (rule: ValidationRule) => void): void {
  for (const rule of schema['x-kubernetes-validations'] ?? []) found(rule);
  const children = [...Object.values(schema.properties ?? {}), schema.additionalProperties, schema.items];
  for (const child of children) if (child !== undefined) eachRule(child, found);
}

type Visitor = (rule: ValidationRule, value: Json, old: Json | undefined, at: StructuralSchema, path: string[]) => void;

function visit(schema: StructuralSchema, value: Json, old: Json | undefined, path: string[], visitor: Visitor): void {
  for (const rule of schema['x-kubernetes-validations'] ?? []) visitor(rule, value, old, schema, path);
  if (Array.isArray(value)) {
    const oldItem = itemOf(schema, old);
    if (schema.items === undefined) return;
    value.forEach((item, index) => visit(schema.items!, item, oldItem(item), [...path, String(index)], visitor));
  } else if (isJsonObject(value)) {
    for (const [member, content] of Object.entries(value)) {
      const child = childSchema(schema, member);
      const oldContent = isJsonObject(old) && Object.hasOwn(old, member) ? old[member] : undefined;
      if (child !== undefined) visit(child, content, oldContent, [...path, member], visitor);
    }
  }
}

/** Items of a list correspond to old ones only where the list is a map: by its keys. */
function itemOf(schema: StructuralSchema, old: Json | undefined): (item: Json) => Json | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined || !Array.isArray(old)) return () => undefined;
  const identity = (item: Json) => JSON.stringify(isJsonObject(item) ? keys.map((key) => item[key]) : item);
  return (item) => old.find((candidate) => identity(candidate) === identity(item));
}

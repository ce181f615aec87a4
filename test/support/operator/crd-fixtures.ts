import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../../src/domain/json.ts';
import { eachRule } from '../../../src/operator/schema/cel.ts';
import type { ResourceDefinition } from '../../../src/operator/schema/definitions.ts';
import type { ValidationRule } from '../../../src/operator/schema/structural-schema.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/crds/', import.meta.url));

/** The documents of a fixture of a kind, in order. */
export function readFixture({ kind }: ResourceDefinition, name: string): JsonObject[] {
  const text = readFileSync(`${FIXTURES}${kind.toLowerCase()}/${name}.yaml`, 'utf8');
  return [...parseAllDocuments(text)].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as JsonObject;
  });
}

/** The fixture of a rule: one document, or the version in force and the one that replaces it. */
export function readRuleFixture(
  definition: ResourceDefinition,
  rule: ValidationRule,
  verdict: 'accepted' | 'refused',
): { before?: JsonObject; document: JsonObject } {
  const versions = readFixture(definition, `${slugOf(rule)}.${verdict}`);
  const document = versions.pop()!;
  const [before] = versions;
  return before === undefined ? { document } : { before, document };
}

/** Names of the fixtures of a kind that belong to no rule of it. */
export function strayFixtures(definition: ResourceDefinition): string[] {
  const expected = rulesOf(definition).flatMap((rule) => [
    `${slugOf(rule)}.accepted.yaml`,
    `${slugOf(rule)}.refused.yaml`,
  ]);
  const present = readdirSync(`${FIXTURES}${definition.kind.toLowerCase()}`);
  return present.filter((name) => name !== 'whole.yaml' && !expected.includes(name));
}

function slugOf({ message }: ValidationRule): string {
  return message
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}

export function rulesOf({ schema }: ResourceDefinition): ValidationRule[] {
  const rules: ValidationRule[] = [];
  eachRule(schema, (rule) => rules.push(rule));
  return rules;
}

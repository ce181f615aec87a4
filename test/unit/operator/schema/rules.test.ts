import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { createAdmission } from '../../../../src/operator/schema/admission.ts';
import { eachRule } from '../../../../src/operator/schema/cel.ts';
import { loadDefinitions } from '../../../../src/operator/schema/definitions.ts';
import type { ValidationRule } from '../../../../src/operator/schema/structural-schema.ts';

const FIXTURES = fileURLToPath(new URL('../../../fixtures/crds/', import.meta.url));

/** A file may hold two documents: the version in force, and the one that replaces it. */
function readVersions(kind: string, rule: ValidationRule, verdict: 'accepted' | 'refused'): JsonObject[] {
  const slug = rule.message
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
  const file = `${FIXTURES}${kind.toLowerCase()}/${slug}.${verdict}.yaml`;
  expect(existsSync(file), `a fixture ${file}`).to.be.true;
  return [...parseAllDocuments(readFileSync(file, 'utf8'))].map((document) => document.toJS() as JsonObject);
}

for (const definition of await loadDefinitions()) {
  const { admit } = createAdmission(definition);
  const admitLast = ([...versions]: JsonObject[]) => {
    const last = versions.pop()!;
    const before = versions.map((version) => admit(version).spec).at(-1);
    return admit(last, before);
  };

  describe(`the CEL rules of ${definition.kind}`, () => {
    const rules: ValidationRule[] = [];
    eachRule(definition.schema, (rule) => rules.push(rule));
    for (const rule of rules) {
      it(`${rule.message}: takes the accepted fixture and refuses the other for this alone`, () => {
        expect(admitLast(readVersions(definition.kind, rule, 'accepted'))).not.to.have.property('violations');
        const refused = readVersions(definition.kind, rule, 'refused');
        expect(admitLast(refused).violations?.map(({ message }) => message)).to.deep.equal([rule.message]);
        if (rule.rule.includes('oldSelf')) expect(refused, 'a version before').to.have.length(2);
      });
    }
  });
}

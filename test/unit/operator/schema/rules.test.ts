import { expect } from 'chai';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { createAdmission } from '../../../../src/operator/schema/admission.ts';
import { readRuleFixture, rulesOf, strayFixtures } from '../../../support/operator/crd-fixtures.ts';
import { DEFINITIONS } from '../../../support/operator/standalone-verdict.ts';

for (const definition of DEFINITIONS) {
  const { admit } = createAdmission(definition);
  const judge = ({ before, document }: { before?: JsonObject; document: JsonObject }) =>
    admit(document, before && admit(before).spec);

  describe(`the CEL rules of ${definition.kind}`, () => {
    it('have every fixture that there is', () => {
      expect(strayFixtures(definition)).to.be.empty;
    });

    for (const rule of rulesOf(definition)) {
      it(`${rule.message}: takes the accepted fixture and refuses the other for this alone`, () => {
        expect(judge(readRuleFixture(definition, rule, 'accepted'))).not.to.have.property('violations');
        const refused = readRuleFixture(definition, rule, 'refused');
        expect(judge(refused).violations?.map(({ message }) => message)).to.deep.equal([rule.message]);
        if (rule.rule.includes('oldSelf')) expect(refused, 'a version before').to.have.property('before');
      });
    }
  });
}

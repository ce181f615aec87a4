import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../../src/domain/json.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import { createDryRun } from '../../../support/kubernetes/dry-run.ts';
import type { DryRun } from '../../../support/kubernetes/dry-run.ts';
import { readFixture } from '../../../support/operator/crd-fixtures.ts';
import { mutationsOf } from '../../../support/operator/document-mutations.ts';
import { expectSameVerdict } from '../../../support/operator/same-verdict.ts';
import { arbitraryJson, arbitraryOf } from '../../../support/operator/schema-arbitrary.ts';
import { DEFINITIONS, judgeStandalone } from '../../../support/operator/standalone-verdict.ts';

describe('random documents', () => {
  let server: DryRun;

  before(async function () {
    this.timeout(600_000);
    server = createDryRun(await requireKubernetes(this));
  });
  after(() => server?.close());

  for (const definition of DEFINITIONS) {
    const { apiVersion, kind, schema } = definition;
    const documentOf = (spec: Json): JsonObject => ({ apiVersion, kind, metadata: { name: 'random' }, spec });

    it(`of ${kind}, changed in one place, get the same verdict from the API server and in a folder`, async function () {
      this.timeout(300_000);
      const verdicts = { taken: 0, refused: 0 };
      // Chance alone may keep to no rule in a whole run.
      const whole = fc.constantFrom(...readFixture(definition, 'whole').map(({ spec }) => spec as Json));
      const specs = fc.oneof(
        { weight: 4, arbitrary: arbitraryOf(schema.properties!['spec']!) },
        { weight: 1, arbitrary: whole },
      );
      const mutated = fc.tuple(specs, fc.nat(), arbitraryJson()).map(([spec, place, other]) => {
        const document = documentOf(spec);
        const mutations = mutationsOf(schema, document);
        // Half of them stay as they are: one that is taken has to show its defaults.
        if (place % 2 === 0) return document;
        if (place % 5 === 0) return documentOf(other);
        return mutations[place % mutations.length]?.document ?? document;
      });
      await fc.assert(
        fc.asyncProperty(mutated, async (document) => {
          const answer = await server.create(definition, document);
          verdicts[answer.faults === undefined ? 'taken' : 'refused'] += 1;
          expectSameVerdict(answer, judgeStandalone(definition, document), JSON.stringify(document));
        }),
        { numRuns: 150, interruptAfterTimeLimit: 240_000 },
      );
      expect(verdicts.taken, 'taken').to.be.greaterThan(0);
      expect(verdicts.refused, 'refused').to.be.greaterThan(0);
    });
  }
});

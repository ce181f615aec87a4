import { expect } from 'chai';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import { createDryRun } from '../../../support/kubernetes/dry-run.ts';
import type { DryRun } from '../../../support/kubernetes/dry-run.ts';
import { readFixture, readRuleFixture, rulesOf } from '../../../support/operator/crd-fixtures.ts';
import { mutationsOf } from '../../../support/operator/document-mutations.ts';
import { METADATA_CASES } from '../../../support/operator/metadata-cases.ts';
import { expectSameVerdict } from '../../../support/operator/same-verdict.ts';
import { DEFINITIONS, judgeStandalone } from '../../../support/operator/standalone-verdict.ts';

describe('the API server and a manifests folder judge documents alike:', () => {
  let server: DryRun;

  before(async function () {
    this.timeout(600_000);
    server = createDryRun(await requireKubernetes(this));
  });
  after(() => server?.close());

  for (const definition of DEFINITIONS) {
    describe(definition.kind, () => {
      for (const rule of rulesOf(definition)) {
        for (const verdict of ['accepted', 'refused'] as const) {
          it(`${rule.message}: the ${verdict} fixture`, async () => {
            const { before, document } = readRuleFixture(definition, rule, verdict);
            const answer =
              before === undefined
                ? await server.create(definition, document)
                : await server.replace(definition, before, document);
            expectSameVerdict(answer, judgeStandalone(definition, document, before), verdict);
            if (verdict === 'accepted') expect(answer.faults).to.be.undefined;
            else expect(answer.reason).to.include(rule.message);
          });
        }
      }

      it('a document whose type is left out or null while another is in force, or that has no spec', async () => {
        const [whole] = readFixture(definition, 'whole');
        const { spec: _spec, ...empty } = whole!;
        expectSameVerdict(await server.create(definition, empty), judgeStandalone(definition, empty), 'no spec');
        // Of the kinds that have a type, the whole document has another one than the default.
        const { type, ...untyped } = whole!['spec'] as JsonObject;
        if (type === undefined) return;
        for (const spec of [untyped, { ...untyped, type: null }]) {
          const document = { ...whole, spec };
          const answer = await server.replace(definition, whole!, document);
          expectSameVerdict(answer, judgeStandalone(definition, document, whole), JSON.stringify(spec));
          expect(answer.faults).to.deep.equal(['spec.type']);
        }
      });

      for (const [index, document] of readFixture(definition, 'whole').entries()) {
        it(`every field at and beyond its bounds, left out and garbled, from document ${index + 1} on`, async function () {
          this.timeout(300_000);
          expect((await server.create(definition, document)).faults).to.be.undefined;
          for (const { title, document: mutated } of mutationsOf(definition.schema, document)) {
            expectSameVerdict(await server.create(definition, mutated), judgeStandalone(definition, mutated), title);
          }
        });
      }

      it('metadata: names, labels and annotations', async () => {
        const [whole] = readFixture(definition, 'whole');
        for (const metadata of METADATA_CASES) {
          const document = { ...whole, metadata };
          const title = JSON.stringify(metadata).slice(0, 100);
          expectSameVerdict(await server.create(definition, document), judgeStandalone(definition, document), title);
        }
      });
    });
  }
});

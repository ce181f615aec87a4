import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { parseJsonPath, queryJsonPath } from '../../../src/expressions/json-path.ts';
import { Budget } from '../../../src/expressions/limits.ts';

interface ComplianceCase {
  name: string;
  selector: string;
  document: Json;
  result?: Json[];
  results?: Json[][];
  invalid_selector?: boolean;
}

const suite = JSON.parse(readFileSync(new URL('../../fixtures/jsonpath/cts.json', import.meta.url), 'utf8')) as {
  tests: ComplianceCase[];
};

describe('JSONPath against the RFC 9535 compliance suite', () => {
  it('holds the whole suite', () => {
    // The number is that of the version which the fixture's README names.
    expect(suite.tests).to.have.lengthOf(687);
  });

  for (const { name, selector, document, result, results, invalid_selector: invalid } of suite.tests) {
    it(name, () => {
      if (invalid) {
        expect(() => parseJsonPath(selector)).to.throw('path must be a JSONPath query');
        return;
      }
      const found = queryJsonPath(parseJsonPath(selector), document, new Budget());
      expect(results ?? [result]).to.deep.include(found);
    });
  }
});

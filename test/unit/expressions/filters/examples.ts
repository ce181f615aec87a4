import { expect } from 'chai';
import type { Json } from '../../../../src/domain/json.ts';
import { evaluateExpression } from '../../../../src/expressions/template.ts';
import { violationsOf } from '../violations.ts';

/** One test per row: what `{{ data | <filters> }}` gives for `data`. */
export function gives(rows: [filters: string, data: Json, result: Json][]): void {
  for (const [filters, data, result] of rows) {
    it(`${filters} gives ${JSON.stringify(result)} for ${JSON.stringify(data)}`, () => {
      expect(evaluateExpression(`{{ data | ${filters} }}`, { data })).to.deep.equal(result);
    });
  }
}

/** One test per row: `{{ data | <filters> }}` is refused with this message. */
export function refuses(rows: [filters: string, data: Json, message: string][]): void {
  for (const [filters, data, message] of rows) {
    it(`${filters} refuses ${JSON.stringify(data).slice(0, 60)}`, () => {
      const refused = violationsOf(() => evaluateExpression(`{{ data | ${filters} }}`, { data }, 'mask'));
      expect(refused).to.deep.equal({ mask: [message] });
    });
  }
}

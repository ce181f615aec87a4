import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { ownFilters } from '../../../src/expressions/filters/registry.ts';
import { STANDARD_FILTERS } from '../../../src/expressions/filters/standard.ts';
import { evaluateExpression } from '../../../src/expressions/template.ts';

interface Example {
  filter: string;
  expression: string;
  data: Json;
  /** JSON, or a regular expression between slashes for what is random. */
  result: string;
}

/** The rows of the document's filter tables: the filter first, then, as the last three, expression, data and result. */
function readExamples(): Example[] {
  const document = readFileSync(new URL('../../../docs/expressions.md', import.meta.url), 'utf8');
  return document
    .split('\n')
    .map((line) =>
      line.split(/(?<!\\)\|/).map((cell) =>
        cell
          .trim()
          .replaceAll('\\|', '|')
          .replace(/^`(.*)`$/, '$1'),
      ),
    )
    .filter((cells) => /^[a-z_0-9]+$/.test(cells[1] ?? '') && cells.at(-4)?.startsWith('{{ data |'))
    .map((cells) => ({
      filter: cells[1]!,
      expression: cells.at(-4)!,
      data: JSON.parse(cells.at(-3)!) as Json,
      result: cells.at(-2)!,
    }));
}

describe('docs/expressions.md', () => {
  const examples = readExamples();

  it('has one example for every filter', () => {
    const documented = examples.map(({ filter }) => filter);
    expect(documented).to.have.members([...ownFilters.keys(), ...STANDARD_FILTERS]);
  });

  for (const { expression, data, result } of examples) {
    it(`is right about ${expression}`, () => {
      const actual = evaluateExpression(expression, { data });
      if (result.startsWith('/')) expect(actual).to.match(new RegExp(result.slice(1, -1)));
      else expect(actual).to.deep.equal(JSON.parse(result));
    });
  }
});

import { ViolationCollector } from './errors.ts';
import { alternativesOf } from './search-alternatives.ts';
import { type Lexeme, type ReportFault, scanSearchQuery } from './search-query-lexemes.ts';
import { SEARCH_LIMITS, type SearchQuery } from './search-query.ts';

/**
 * Reads a query by recursive descent. Goes on after a fault as if it were not there; what it gives then is not used.
 */
class Parser {
  readonly #lexemes: Lexeme[];
  readonly #report: ReportFault;
  #index = 0;

  constructor(lexemes: Lexeme[], report: ReportFault) {
    this.#lexemes = lexemes;
    this.#report = report;
  }

  get #current(): Lexeme {
    return this.#lexemes[this.#index]!;
  }

  #is(kind: Lexeme['kind']): boolean {
    return this.#current.kind === kind;
  }

  #skip(kind: Lexeme['kind']): boolean {
    if (!this.#is(kind)) return false;
    this.#index++;
    return true;
  }

  whole(): SearchQuery | undefined {
    const query = this.#or();
    while (!this.#is('end')) {
      // Only a parenthesis ends what the rules take.
      this.#report('must open every parenthesis that it closes', this.#current.at);
      this.#index++;
      if (this.#skip('and') || this.#skip('or') || !this.#is('end')) this.#or();
    }
    return query;
  }

  #or(): SearchQuery | undefined {
    let left = this.#and();
    while (this.#skip('or')) left = join('or', left, this.#and());
    return left;
  }

  #and(): SearchQuery | undefined {
    let left = this.#not();
    for (;;) {
      const { kind, at } = this.#current;
      if (kind === 'term' || kind === 'open') this.#report('must have AND or OR between terms', at);
      // Before NOT, AND goes without saying.
      else if (kind !== 'not' && !this.#skip('and')) return left;
      left = join('and', left, this.#not());
    }
  }

  #not(): SearchQuery | undefined {
    const { at } = this.#current;
    if (this.#skip('not')) {
      const query = this.#not();
      return query && { kind: 'not', query };
    }
    if (this.#skip('open')) {
      const query = this.#or();
      if (!this.#skip('close')) this.#report('must close the parenthesis that opens', at);
      return query;
    }
    return this.#term();
  }

  #term(): SearchQuery | undefined {
    const lexeme = this.#current;
    if (lexeme.kind !== 'term') {
      this.#report('must have a term', lexeme.at);
      return undefined;
    }
    this.#index++;
    return lexeme.term && { kind: 'term', term: lexeme.term };
  }
}

function join(
  kind: 'and' | 'or',
  left: SearchQuery | undefined,
  right: SearchQuery | undefined,
): SearchQuery | undefined {
  return left && right && { kind, left, right };
}

/**
 * Reads a query; undefined where it is empty, which asks for every token. NOT binds closer than AND, AND closer than
 * OR; the three are in capital letters, and no two terms stand side by side without one of them; `a NOT b` is
 * `a AND NOT b`.
 *
 * Throws one 'invalid' error under `path` with every fault and the number of the character where it lies, from 1. It
 * repeats nothing of the query, which may hold data.
 */
export function parseSearchQuery(text: string, path = 'query'): SearchQuery | undefined {
  if (text.trim() === '') return undefined;
  const violations = new ViolationCollector();
  const report: ReportFault = (message, at) => violations.add(path, `${message} (character ${at + 1})`);
  const query = new Parser(scanSearchQuery(text, report), report).whole();
  violations.throwIfAny();
  if (alternativesOf(query!).length > SEARCH_LIMITS.alternatives) {
    violations.add(path, `must combine less: written out, it is more than ${SEARCH_LIMITS.alternatives} cases`);
  }
  violations.throwIfAny();
  return query;
}

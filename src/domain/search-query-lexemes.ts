import type { SearchTerm } from './search-query.ts';
import { readTerm, type SearchValue } from './search-query-terms.ts';

/** A piece of a query, and the index of its first character. A term with a fault in it has no `term`. */
export type Lexeme =
  | { readonly kind: 'and' | 'or' | 'not' | 'open' | 'close' | 'end'; readonly at: number }
  | { readonly kind: 'term'; readonly at: number; readonly term: SearchTerm | undefined };

/** Told what is wrong, reading after the word "query", and the index of the character where. */
export type ReportFault = (message: string, at: number) => void;

const OPERATORS = new Map([
  ['AND', 'and'],
  ['OR', 'or'],
  ['NOT', 'not'],
] as const);
type Operator = 'and' | 'or' | 'not';

/** Cuts a query into pieces, reporting the faults inside of them; goes on after each. */
class Scanner {
  readonly #text: string;
  readonly #report: ReportFault;
  #at = 0;

  constructor(text: string, report: ReportFault) {
    this.#text = text;
    this.#report = report;
  }

  /** Reads what the sticky pattern takes here. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += taken.length;
    return taken;
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  next(): Lexeme {
    this.#take(/\s*/y);
    const at = this.#at;
    const character = this.#peek();
    if (character === undefined) return { kind: 'end', at };
    if (character === '(' || character === ')') {
      this.#at++;
      return { kind: character === '(' ? 'open' : 'close', at };
    }
    const name = this.#take(/[^\s()":[\]]*/y);
    const operator = (OPERATORS as ReadonlyMap<string, Operator>).get(name);
    if (operator !== undefined && this.#peek() !== ':') return { kind: operator, at };
    return { kind: 'term', at, term: this.#term(name, at) };
  }

  #term(name: string, at: number): SearchTerm | undefined {
    const key = name === 'metadata.' && this.#peek() === '"' ? this.#phrase() : undefined;
    if (this.#peek() !== ':') {
      this.#report('must have a field, a colon and a value in each term', at);
      // Whatever stands in the place of the term is one fault, not many.
      if (this.#peek() === '"') this.#phrase(() => undefined);
      else this.#take(/[^\s()]*/y);
      return undefined;
    }
    this.#at++;
    const valueAt = this.#at;
    const value = this.#value();
    if (value === undefined) return undefined;
    const read = readTerm(name, key, value);
    if (!('fault' in read)) return read;
    this.#report(read.fault, read.in === 'field' ? at : valueAt);
    return undefined;
  }

  #value(): SearchValue | undefined {
    if (this.#peek() === '[') return this.#range();
    if (this.#peek() === '"') {
      const text = this.#phrase();
      return text === undefined ? undefined : { kind: 'text', text, isQuoted: true };
    }
    const at = this.#at;
    const text = this.#take(/[^\s()"[\]]+/y);
    if (text === '') this.#report('must have a value after the colon', at);
    return text === '' ? undefined : { kind: 'text', text, isQuoted: false };
  }

  /** Between quotation marks; inside of them a backslash lets `"` and `\` stand for themselves. */
  #phrase(report = this.#report): string | undefined {
    const opening = this.#at++;
    const raw = this.#take(/(?:[^"\\]|\\[^])*/y);
    if (this.#peek() !== '"') {
      this.#at = this.#text.length;
      report('must close the quotation mark that opens', opening);
      return undefined;
    }
    this.#at++;
    const odd = /^(?:[^\\]|\\["\\])*?\\(?!["\\])/.exec(raw);
    if (odd === null) return raw.replaceAll(/\\(.)/g, '$1');
    report('must have a backslash in quotation marks only before " or \\', opening + odd[0].length);
    return undefined;
  }

  #range(): SearchValue | undefined {
    const opening = this.#at++;
    const from = this.#bound();
    this.#take(/\s*/y);
    const to = this.#take(/TO(?=[\s"])/y);
    const until = to === '' ? undefined : this.#bound();
    this.#take(/\s*/y);
    if (from !== undefined && until !== undefined && this.#peek() === ']') {
      this.#at++;
      return { kind: 'range', from, to: until };
    }
    this.#take(/[^\]]*\]?/y);
    this.#report('must write a range as [<from> TO <to>]', opening);
    return undefined;
  }

  #bound(): string | undefined {
    this.#take(/\s*/y);
    if (this.#peek() === '"') return this.#phrase();
    const text = this.#take(/[^\s()"[\]]+/y);
    return text === '' ? undefined : text;
  }
}

/** The pieces of a query; the last one is its end. */
export function scanSearchQuery(text: string, report: ReportFault): Lexeme[] {
  const scanner = new Scanner(text, report);
  const lexemes: Lexeme[] = [];
  do lexemes.push(scanner.next());
  while (lexemes.at(-1)!.kind !== 'end');
  return lexemes;
}

import { ExpressionFault } from './fault.ts';
import { type Budget, MAX_BRACKET_DEPTH, MAX_EXPRESSION_LENGTH } from './limits.ts';

/** A piece of a template string: text that stays, or the inside of one pair of braces. */
export type Part = { text: string } | { expression: string };

/**
 * `value`: the whole inside is Liquid, so braces and bars within its quotes do not count. `reference`: what stands
 * before the first bar is a token's id, in which a quote is a character like any other.
 */
export type Dialect = 'value' | 'reference';

/** True where a string needs scanning: it holds an expression, perhaps an unclosed one, or a tag. */
export function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/**
 * Splits a string into its parts, charging each expression as it is found: a text may hold a hundred thousand. Throws
 * ExpressionFault for tags, unclosed braces and what exceeds a limit.
 */
export function scan(text: string, dialect: Dialect, budget: Budget): Part[] {
  const parts: Part[] = [];
  let position = 0;
  while (position < text.length) {
    const open = text.indexOf('{{', position);
    const literal = text.slice(position, open === -1 ? undefined : open);
    rejectTags(literal);
    if (literal !== '') parts.push({ text: literal });
    if (open === -1) break;
    const close = closingBraces(text, open + 2, dialect);
    const expression = text.slice(open + 2, close);
    budget.read(expression);
    parts.push({ expression });
    position = close + 2;
  }
  return dialect === 'value' ? controlWhitespace(parts) : parts;
}

function rejectTags(literal: string): void {
  const tag = literal.indexOf('{%');
  if (tag !== -1 && literal.includes('%}', tag)) throw new ExpressionFault('must not contain tags ({% %})');
}

function closingBraces(text: string, start: number, dialect: Dialect): number {
  let quote = '';
  let depth = 0;
  let inLiquid = dialect === 'value';
  const end = Math.min(text.length, start + MAX_EXPRESSION_LENGTH + 1);
  for (let index = start; index < end; index++) {
    const character = text[index]!;
    if (quote !== '') {
      if (character === '\\') index++;
      else if (character === quote) quote = '';
    } else if (character === '}' && text[index + 1] === '}') {
      return index;
    } else if (character === '|') {
      inLiquid = true;
    } else if (inLiquid && (character === '"' || character === "'")) {
      quote = character;
    } else if (inLiquid && (character === '[' || character === '(')) {
      if (++depth > MAX_BRACKET_DEPTH) throw new ExpressionFault('has an expression that is nested too deeply');
    } else if (depth > 0 && (character === ']' || character === ')')) {
      depth--;
    }
  }
  if (end - start > MAX_EXPRESSION_LENGTH) {
    throw new ExpressionFault(`must not have expressions longer than ${MAX_EXPRESSION_LENGTH} characters`);
  }
  throw new ExpressionFault('has an expression that is not closed');
}

/** Liquid's `{{-` and `-}}`: the text on that side loses its white space. */
function controlWhitespace(parts: Part[]): Part[] {
  const trimmed = parts.map((part) => ('expression' in part ? { expression: trimSigns(part.expression) } : part));
  parts.forEach((part, index) => {
    if (!('expression' in part)) return;
    const before = trimmed[index - 1];
    const after = trimmed[index + 1];
    if (part.expression.startsWith('-') && before && 'text' in before) before.text = before.text.trimEnd();
    if (part.expression.endsWith('-') && after && 'text' in after) after.text = after.text.trimStart();
  });
  return trimmed.filter((part) => !('text' in part) || part.text !== '');
}

function trimSigns(expression: string): string {
  return expression.replace(/^-/, '').replace(/-$/, '');
}

import { RE2JS } from 're2js';
import type { Json } from '../domain/json.ts';
import { ExpressionFault } from './fault.ts';

/** Characters of one pattern, which may come from data. */
const MAX_PATTERN_LENGTH = 200;
/** Instructions of one compiled pattern: `a{1000}` is short and large. */
const MAX_PROGRAM_SIZE = 1_000;
// RE2 steps through text at about this many (character, instruction) pairs for the price of one visited node.
const STEPS_PER_NODE = 4;

/**
 * RFC 9535's `match` (the whole text) and `search` (a part of it). False for what is not text and for patterns that do
 * not compile, as the RFC demands. Linear in the text's length, whatever the pattern.
 */
export function matchesPattern(
  text: Json | undefined,
  pattern: Json | undefined,
  extent: 'whole' | 'part',
  cost: { charge(units: number): void },
): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string') return false;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new ExpressionFault(`a regular expression must not be longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  cost.charge(pattern.length * 10);
  const compiled = compile(pattern);
  if (compiled === undefined) return false;
  const size = compiled.programSize();
  if (size > MAX_PROGRAM_SIZE) throw new ExpressionFault('a regular expression is too large');
  cost.charge(Math.ceil((text.length * size) / STEPS_PER_NODE));
  return extent === 'whole' ? compiled.matches(text) : compiled.matcher(text).find();
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(dotsWithoutLineEnds(pattern));
  } catch {
    return undefined;
  }
}

/** I-Regexp's dot (RFC 9485, section 5.3) leaves out carriage returns too, where RE2's leaves out newlines only. */
function dotsWithoutLineEnds(pattern: string): string {
  let mapped = '';
  let inClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]!;
    if (character === '\\') {
      mapped += character + (pattern[++index] ?? '');
      continue;
    }
    if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    mapped += character === '.' && !inClass ? '[^\\n\\r]' : character;
  }
  return mapped;
}

import { RE2JS } from 're2js';
import type { Json } from '../domain/json.ts';
import { ExpressionFault } from './fault.ts';
import { expandedSize } from './pattern-size.ts';

/** Characters of one pattern, which may come from data. */
const MAX_PATTERN_LENGTH = 200;
/** Instructions of one compiled pattern: `a{1000}` is short and large. */
const MAX_PROGRAM_SIZE = 1_000;
// RE2 steps through text at about this many (character, instruction) pairs for the price of one visited node.
const STEPS_PER_NODE = 4;
// Visited nodes that compiling costs: for each instruction, and for the tables of Unicode that a class is made from.
const NODES_PER_INSTRUCTION = 2;
const NODES_PER_TABLE_PATTERN = 10_000;
const NEEDS_TABLES = /\\[pP]|\(\?[a-zA-Z]*i/;

/**
 * Patterns that one query has compiled: a literal one is applied to every node. Undefined for what does not compile.
 */
export type CompiledPatterns = Map<string, RE2JS | undefined>;

/** What the matching is charged to. */
export interface MatchingScope {
  readonly patterns: CompiledPatterns;
  charge(units: number): void;
}

/**
 * RFC 9535's `match` (the whole text) and `search` (a part of it). False for what is not text and for patterns that do
 * not compile, as the RFC demands. Linear in the text's length, whatever the pattern.
 */
export function matchesPattern(
  text: Json | undefined,
  pattern: Json | undefined,
  extent: 'whole' | 'part',
  scope: MatchingScope,
): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string') return false;
  const compiled = compiledPattern(pattern, scope);
  if (compiled === undefined) return false;
  scope.charge(Math.ceil((text.length * compiled.programSize()) / STEPS_PER_NODE) + 1);
  return extent === 'whole' ? compiled.matches(text) : compiled.matcher(text).find();
}

function compiledPattern(pattern: string, scope: MatchingScope): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new ExpressionFault(`a regular expression must not be longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  if (scope.patterns.has(pattern)) return scope.patterns.get(pattern);
  const size = expandedSize(pattern);
  if (size > MAX_PROGRAM_SIZE) throw new ExpressionFault('a regular expression is too large');
  const tables = NEEDS_TABLES.test(pattern) ? NODES_PER_TABLE_PATTERN : 0;
  scope.charge(pattern.length * 10 + size * NODES_PER_INSTRUCTION + tables);
  const compiled = compile(pattern);
  if (compiled !== undefined && compiled.programSize() > MAX_PROGRAM_SIZE) {
    throw new ExpressionFault('a regular expression is too large');
  }
  scope.patterns.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): RE2JS | undefined {
  // RE2's own quoting, no part of I-Regexp, would hide brackets from whoever reads the pattern before it.
  if (pattern.includes('\\Q')) return undefined;
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

import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Document } from 'yaml';
import { isJsonObject } from '../../../domain/json.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { RefusalReason } from '../../../domain/resource-status.ts';

/** One document of a YAML file: its content, or why it has none. */
export interface YamlDocument {
  /** 1-based line where its content begins. */
  line: number;
  content?: JsonObject;
  faults: RefusalReason[];
  /** The line of a member, or of its nearest parent that is there. */
  lineOf(path: readonly string[]): number;
}

// Enough for every honest manifest; stops documents that grow without end from a few anchors.
const MAX_ALIASES = 100;

// The parser's own messages quote the text, which may be a Secret's.
const SYNTAX_MESSAGES: Record<string, string> = {
  BAD_ALIAS: 'refers to an anchor that is not there',
  BAD_DQ_ESCAPE: 'has an unknown escape in a quoted text',
  BAD_INDENT: 'is not indented as its neighbours are',
  DUPLICATE_KEY: 'repeats a field that is already there',
  MISSING_CHAR: 'lacks a closing quote, bracket, colon or comma',
  MULTILINE_IMPLICIT_KEY: 'has a field name over several lines',
  NON_STRING_KEY: 'has a field name that is not text',
  TAB_AS_INDENT: 'is indented with a tab',
  TAG_RESOLVE_FAILED: 'has a tag that is not known here',
};

/** Splits and parses a file. Documents without content are left out. */
export function parseYamlDocuments(text: string): YamlDocument[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  });
  if (!Array.isArray(documents)) return [];
  return documents
    .filter((document) => !isEmpty(document) || document.errors.length > 0)
    .map((document) => readDocument(document, lines));
}

function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function readDocument(document: Document.Parsed, lines: LineCounter): YamlDocument {
  const lineAt = (offset: number) => Math.max(lines.linePos(offset).line, 1);
  const line = lineAt(document.contents?.range[0] ?? document.range[0]);
  const lineOf = (path: readonly string[]) => lineAt(offsetOf(document, path));
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    line: lineAt(pos[0]),
    path: '',
    message: SYNTAX_MESSAGES[code] ?? `is not valid YAML (${code})`,
  }));
  if (faults.length > 0) return { line, faults, lineOf };
  const refuse = (message: string): YamlDocument => ({ line, faults: [{ line, path: '', message }], lineOf });
  try {
    const content: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isJsonObject(content) ? { line, content, faults, lineOf } : refuse('must be an object');
  } catch {
    return refuse(`uses its anchors too often, or refers to one that is not there`);
  }
}

function offsetOf(document: Document.Parsed, path: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? document.range[0];
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = rangeStart(node) ?? offset;
    } else {
      break;
    }
  }
  return offset;
}

function rangeStart(node: unknown): number | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;
}

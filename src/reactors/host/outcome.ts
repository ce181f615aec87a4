import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import { ERROR_CLASSES, UNCLASSED, isErrorClass } from '../errors.ts';
import type { Settled } from '../protocol.ts';
import { INVOCATION_LIMITS } from '../types.ts';
import type { InvocationOutcome } from '../types.ts';
import { describeMissingModule } from './missing-module.ts';

const INVALID: InvocationOutcome = { kind: 'invalid-result' };
const BUILT_IN = /^(?:Type|Range|Reference|Syntax|Eval|URI)?Error$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;
const MAX_HEADERS = 50;

/** Looks at what guest code is said to have ended with, and makes an outcome of it that can be relied on. */
export function outcomeOf(settled: Settled): InvocationOutcome {
  switch (settled.type) {
    case 'returned':
      return returned(settled.raw, settled.tokenize);
    case 'classed':
      return classed(parse(settled.error));
    case 'custom':
      return custom(parse(settled.response));
    case 'threw':
      return { kind: 'threw', ...UNCLASSED, detail: describe(settled) };
    case 'invalid':
      return INVALID;
    case 'too-large':
      return { kind: 'result-too-large' };
    case 'stopped':
      return { kind: 'timed-out' };
    case 'breach':
      return {
        kind: settled.reason === 'timed-out' || settled.reason === 'out-of-memory' ? settled.reason : 'crashed',
      };
  }
}

/** Undefined for what is no JSON, or nested more deeply than later readers of it can be expected to bear. */
function parse(text: string): Json | undefined {
  if (deeperThan(text, INVOCATION_LIMITS.resultDepth)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function deeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/g)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

function returned(rawText: string, tokenizeText: string): InvocationOutcome {
  const raw = rawText === '' ? null : parse(rawText);
  const tokenize = tokenizeText === '' ? null : parse(tokenizeText);
  if (raw === undefined || tokenize === undefined) return INVALID;
  return {
    kind: 'returned',
    ...(rawText === '' ? {} : { raw }),
    ...(tokenizeText === '' ? {} : { tokenize }),
  };
}

function classed(error: Json | undefined): InvocationOutcome {
  if (!isJsonObject(error)) return INVALID;
  const { class: name, errors } = error;
  if (typeof name !== 'string' || !isErrorClass(name) || !isJsonObject(errors)) return INVALID;
  const lists = Object.entries(errors);
  if (!lists.every(([, list]) => Array.isArray(list) && list.every((text) => typeof text === 'string'))) return INVALID;
  return {
    kind: 'threw',
    ...ERROR_CLASSES[name],
    ...(lists.length === 0 ? {} : { errors: errors as Record<string, string[]> }),
  };
}

function custom(response: Json | undefined): InvocationOutcome {
  if (!isJsonObject(response)) return INVALID;
  const { status, headers = {}, body = null } = response;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return INVALID;
  if (!isJsonObject(headers) || Object.keys(headers).length > MAX_HEADERS) return INVALID;
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || typeof value !== 'string' || !HEADER_VALUE.test(value)) return INVALID;
  }
  return { kind: 'custom-response', status, headers: headers as Record<string, string>, body };
}

function describe({ name, line: claimed, module }: Extract<Settled, { type: 'threw' }>): string {
  const line = claimed !== undefined && Number.isInteger(claimed) && claimed > 0 ? claimed : undefined;
  if (module !== undefined) return describeMissingModule(module, line);
  const what = BUILT_IN.test(name) ? name : 'A value that is no error';
  return line === undefined ? what : `${what} at line ${line}`;
}

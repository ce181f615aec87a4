import { isJsonObject, type Json } from './json.ts';
import type { ViolationCollector } from './errors.ts';

/** Deepest nesting of a JSON body. */
export const JSON_DEPTH = 100;

/** Characters of a path that an error repeats at most: member names are the caller's own. */
const PATH_LENGTH = 200;

/** The path of a member or element below `path`, as errors name it: `rules[0].transform`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** A value and where it lies. Paths are put together for faults only: most bodies have none. */
interface Node {
  value: Json;
  depth: number;
  key: string | number;
  parent?: Node;
}

function pathOf({ key, parent }: Node): string {
  return parent === undefined ? '' : childPath(pathOf(parent), key);
}

function record(violations: ViolationCollector, node: Node, fault: string): void {
  violations.add(pathOf(node).replaceAll('\0', '').slice(0, PATH_LENGTH).toWellFormed(), fault);
}

function isPrototypeMember(name: string, value: Json): boolean {
  return name === '__proto__' || (name === 'constructor' && isJsonObject(value) && Object.hasOwn(value, 'prototype'));
}

function faultOfPrimitive(value: string | number | boolean | null): string | undefined {
  if (typeof value === 'number' && (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value))) {
    return 'must be a number that JSON readers agree on: send larger ones as strings';
  }
  if (typeof value !== 'string') return undefined;
  if (value.includes('\0')) return 'must not contain NUL characters';
  return value.isWellFormed() ? undefined : 'must be well-formed Unicode';
}

function faultOfMember(name: string, value: Json): string | undefined {
  if (name.includes('\0') || !name.isWellFormed()) return 'must not have NUL characters or lone surrogates in its name';
  return isPrototypeMember(name, value) ? 'must not be used as a member name' : undefined;
}

/**
 * Records what no body may hold: members that could reach a prototype, NUL characters (Postgres cannot store them in
 * text), lone surrogates (they have no UTF-8 form), numbers that would come back as other ones, and nesting deeper than
 * JSON_DEPTH.
 *
 * Walks without recursion: a body may be nested as deep as its size allows.
 */
export function guardJson(body: Json, violations: ViolationCollector): void {
  const open: Node[] = [{ value: body, depth: 0, key: '' }];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { value } = node;
    const depth = node.depth + 1;
    if (typeof value !== 'object' || value === null) {
      const fault = faultOfPrimitive(value);
      if (fault !== undefined) record(violations, node, fault);
    } else if (depth > JSON_DEPTH) {
      record(violations, node, `must not be nested deeper than ${JSON_DEPTH} levels`);
      return;
    } else if (Array.isArray(value)) {
      for (const [key, element] of value.entries()) open.push({ value: element, depth, key, parent: node });
    } else {
      for (const [key, member] of Object.entries(value)) {
        const child = { value: member, depth, key, parent: node };
        const fault = faultOfMember(key, member);
        if (fault === undefined) open.push(child);
        else record(violations, child, fault);
      }
    }
  }
}

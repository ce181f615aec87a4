import { isJsonObject, type Json } from './json.ts';
import type { ViolationCollector } from './errors.ts';

/** Deepest nesting of a JSON body. */
export const JSON_DEPTH = 100;

/** The path of a member or element below `path`, as errors name it: `rules[0].transform`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function isPrototypeMember(name: string, value: Json): boolean {
  return name === '__proto__' || (name === 'constructor' && isJsonObject(value) && Object.hasOwn(value, 'prototype'));
}

/**
 * Records what no body may hold: members that could reach a prototype, NUL characters (Postgres cannot store them in
 * text), lone surrogates (they have no UTF-8 form) and nesting deeper than JSON_DEPTH.
 *
 * Walks without recursion: a body may be nested as deep as its size allows.
 */
export function guardJson(body: Json, violations: ViolationCollector): void {
  const open: { path: string; value: Json; depth: number }[] = [{ path: '', value: body, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value, depth } = next;
    if (typeof value === 'string') {
      if (value.includes('\0')) violations.add(path, 'must not contain NUL characters');
      if (!value.isWellFormed()) violations.add(path, 'must be well-formed Unicode');
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= JSON_DEPTH) {
        violations.add(path.slice(0, 200), `must not be nested deeper than ${JSON_DEPTH} levels`);
        return;
      }
      if (Array.isArray(value)) {
        value.forEach((element, index) =>
          open.push({ path: childPath(path, index), value: element, depth: depth + 1 }),
        );
        continue;
      }
      for (const [name, member] of Object.entries(value)) {
        if (name.includes('\0') || !name.isWellFormed()) {
          violations.add(path, 'must not have member names with NUL characters or lone surrogates');
        } else if (isPrototypeMember(name, member)) {
          violations.add(childPath(path, name), 'must not be used as a member name');
        } else {
          open.push({ path: childPath(path, name), value: member, depth: depth + 1 });
        }
      }
    }
  }
}

import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { ViolationCollector } from './errors.ts';

/** Deepest nesting of a JSON body. */
export const JSON_DEPTH = 100;

/** Faults after which the walk ends: a body with more has one mistake many times. */
const MAX_FAULTS = 100;

/** Characters of a path that an error repeats at most: member names are the caller's own. */
const PATH_LENGTH = 200;

/** The path of a member or element below `path`, as errors name it: `rules[0].transform`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/**
 * The members and elements of a place that the API itself names; undefined for any other. What is not named by the API
 * is a caller's own, and may be as secret as a value.
 */
export type NamedMembers = (key: string | number) => NamedMembers | undefined;

/** For what holds no secrets: the names in it may be told as they are. */
export const everyName: NamedMembers = () => everyName;

/** Where a value lies. Paths are put together for faults only: most bodies have none. */
interface Place {
  readonly key: string | number;
  readonly parent: Place | undefined;
}

/** An array or object that is yet to be looked into; the body's own has no place. */
interface Open {
  readonly value: Json[] | JsonObject;
  readonly depth: number;
  readonly place: Place | undefined;
}

/** The path of a place as far as its parts are named, and whether that is the place itself. */
function pathOf(place: Place | undefined, named: NamedMembers): { path: string; whole: boolean } {
  const keys: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) keys.unshift(at.key);
  let path = '';
  let members: NamedMembers | undefined = named;
  for (const key of keys) {
    members = members(key);
    if (members === undefined) return { path, whole: false };
    path = childPath(path, key);
  }
  return { path, whole: true };
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
 * JSON_DEPTH. What is wrong below a member that `named` does not name is told of the place that holds it.
 *
 * Walks without recursion, since a body may be nested as deep as its size allows, and keeps arrays and objects alone in
 * mind, since it may hold half a million values. Ends after MAX_FAULTS faults.
 */
export function guardJson(body: Json, violations: ViolationCollector, named: NamedMembers = everyName): void {
  let faults = 0;
  const record = (place: Place | undefined, fault: string): void => {
    faults++;
    const { path, whole } = pathOf(place, named);
    const told = path.replaceAll('\0', '').slice(0, PATH_LENGTH).toWellFormed();
    violations.add(told, whole ? fault : `holds something that ${fault}`);
  };
  const open: Open[] = [];
  const visit = (value: Json, depth: number, key: string | number | undefined, parent: Place | undefined): void => {
    if (typeof value === 'object' && value !== null) {
      open.push({ value, depth, place: key === undefined ? undefined : { key, parent } });
      return;
    }
    const fault = faultOfPrimitive(value);
    if (fault !== undefined) record(key === undefined ? undefined : { key, parent }, fault);
  };
  visit(body, 1, undefined, undefined);
  for (let next = open.pop(); next !== undefined && faults < MAX_FAULTS; next = open.pop()) {
    const { value, depth, place } = next;
    if (depth > JSON_DEPTH) {
      record(place, `must not be nested deeper than ${JSON_DEPTH} levels`);
      return;
    }
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length && faults < MAX_FAULTS; index++) {
        visit(value[index]!, depth + 1, index, place);
      }
      continue;
    }
    for (const name of Object.keys(value)) {
      if (faults >= MAX_FAULTS) break;
      const member = value[name]!;
      const fault = faultOfMember(name, member);
      if (fault === undefined) visit(member, depth + 1, name, place);
      else record({ key: name, parent: place }, fault);
    }
  }
}

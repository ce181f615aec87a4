import type { Json } from '../domain/json.ts';

/** What the comparing is charged to: the same large value may be compared once for every node. */
interface Cost {
  charge(units: number): void;
}

// Characters that two texts are compared by for the price of one visited node.
const CHARACTERS_PER_NODE = 100;

/** The price of comparing two texts in visited nodes: they differ at the end of the shorter one at the latest. */
export function textComparisonCost(left: string, right: string): number {
  return Math.ceil(Math.min(left.length, right.length) / CHARACTERS_PER_NODE);
}

/** RFC 9535's equality, in which what does not exist equals what does not exist. Charged as far as it goes. */
export function deepEqual(left: Json | undefined, right: Json | undefined, cost: Cost): boolean {
  if (typeof left === 'string' && typeof right === 'string') {
    cost.charge(left.length === right.length ? textComparisonCost(left, right) : 0);
    return left === right;
  }
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right;
  cost.charge(1);
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((element, index) => equalChild(element, right[index]!, cost));
  }
  const names = namesOf(left, cost);
  if (names.length !== namesOf(right, cost).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && equalChild(left[name]!, right[name]!, cost));
}

function equalChild(left: Json, right: Json, cost: Cost): boolean {
  cost.charge(1);
  return deepEqual(left, right, cost);
}

function namesOf(value: { [name: string]: Json }, cost: Cost): string[] {
  const names = Object.keys(value);
  cost.charge(names.length);
  return names;
}

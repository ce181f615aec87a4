import {
  type AccessRule,
  type Condition,
  type Grants,
  type Transform,
  TRANSFORMS,
  transformOfPlain,
} from './access.ts';
import type { Permission } from './permissions.ts';
import { containsSet, distinctSets, intersectSets, type TextSet } from './text-sets.ts';

/** A grant that gives more than somebody has: a rule, named by its priority, or a plain permission. */
export type ExcessiveGrant = { priority: number; permission: Permission } | { permission: Permission };

/** What decides about one permission on the tokens whose id and container are in these sets. */
interface Decider {
  id: TextSet;
  container: TextSet;
  transform: Transform;
  grant: ExcessiveGrant;
}

const ANY_ID: TextSet = { kind: 'prefix', text: '' };
const ANY_CONTAINER: TextSet = { kind: 'prefix', text: '/' };

function conditionsOf({ container, conditions = [] }: AccessRule): readonly Condition[] {
  return container === undefined ? conditions : [{ attribute: 'container', operator: 'starts_with', value: container }];
}

// Letters of containers compare in lower case, as decideAccess has it; those of ids as they are.
function setsOf(conditions: readonly Condition[], attribute: Condition['attribute']): TextSet[] {
  return conditions
    .filter((condition) => condition.attribute === attribute)
    .map(({ operator, value }) => ({
      kind: operator === 'equals' ? 'only' : 'prefix',
      text: attribute === 'container' ? value.toLowerCase() : value,
    }));
}

/** What decides about a permission, first to last: of those that cover a token, the first one does. */
function decidersOf({ permissions, rules }: Grants, permission: Permission): Decider[] {
  const deciders: Decider[] = [];
  for (const rule of rules) {
    const conditions = conditionsOf(rule);
    if (conditions.length === 0 || !rule.permissions.includes(permission)) continue;
    const id = intersectSets(ANY_ID, setsOf(conditions, 'id'));
    const container = intersectSets(ANY_CONTAINER, setsOf(conditions, 'container'));
    if (id === undefined || container === undefined) continue;
    deciders.push({ id, container, transform: rule.transform, grant: { priority: rule.priority, permission } });
  }
  if (permissions.includes(permission)) {
    const transform = transformOfPlain(permission);
    deciders.push({ id: ANY_ID, container: ANY_CONTAINER, transform, grant: { permission } });
  }
  return deciders;
}

function isAsOpen(held: Transform, asked: Transform): boolean {
  return TRANSFORMS.indexOf(held) >= TRANSFORMS.indexOf(asked);
}

/**
 * Those grants of one permission that give more than `held` does on some token.
 *
 * Sets of ids nest or are disjoint. So an id belongs to the smallest set that it is in, and all ids that belong to the
 * same set meet the same rules; likewise containers. One look at each pair of sets is a look at every token there can be.
 */
function excessOf(asked: readonly Decider[], held: readonly Decider[]): Set<ExcessiveGrant> {
  const all = [...asked, ...held];
  const ids = distinctSets([ANY_ID, ...all.map(({ id }) => id)]);
  const containers = distinctSets([ANY_CONTAINER, ...all.map(({ container }) => container)]);
  // Looked up for every pair, so it is found out beforehand.
  const table = new Map(all.map((decider) => [decider, containers.map((set) => containsSet(decider.container, set))]));
  const coverers = (deciders: readonly Decider[], id: TextSet) =>
    deciders
      .filter((decider) => containsSet(decider.id, id))
      .map((decider) => ({ decider, isCovered: table.get(decider)! }));

  const excess = new Set<ExcessiveGrant>();
  for (const id of ids) {
    const askedHere = coverers(asked, id);
    const heldHere = coverers(held, id);
    containers.forEach((_, index) => {
      const wanted = askedHere.find(({ isCovered }) => isCovered[index])?.decider;
      if (wanted === undefined) return;
      const had = heldHere.find(({ isCovered }) => isCovered[index])?.decider;
      if (had === undefined || !isAsOpen(had.transform, wanted.transform)) excess.add(wanted.grant);
    });
  }
  return excess;
}

/**
 * The grants of `asked` that would give more than `held` gives: on some token, a permission that `held` does not give
 * there, or one under a transform that shows more. None: whatever `asked` may do with any token, `held` may do too.
 *
 * Ids are taken to be any text, and containers any text below `/`, so that a grant may be named for the sake of a token
 * that could not be stored; what is not named is always covered.
 */
export function findExcess(asked: Grants, held: Grants): ExcessiveGrant[] {
  const permissions = new Set([...asked.permissions, ...asked.rules.flatMap((rule) => rule.permissions)]);
  return [...permissions].flatMap((permission) => [
    ...excessOf(decidersOf(asked, permission), decidersOf(held, permission)),
  ]);
}

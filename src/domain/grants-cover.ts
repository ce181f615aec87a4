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

/** The tokens that a rule is about: those whose id and container are in these sets. */
interface Reach {
  id: TextSet;
  container: TextSet;
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

/** Undefined where there are no such tokens. */
function reachOf(rule: AccessRule): Reach | undefined {
  const conditions = conditionsOf(rule);
  if (conditions.length === 0) return undefined;
  const id = intersectSets(ANY_ID, setsOf(conditions, 'id'));
  const container = intersectSets(ANY_CONTAINER, setsOf(conditions, 'container'));
  return id && container && { id, container };
}

function isAsOpen(held: Transform, asked: Transform): boolean {
  return TRANSFORMS.indexOf(held) >= TRANSFORMS.indexOf(asked);
}

/** Some rules of a list: bit n stands for the nth. */
type RuleBits = Uint32Array;

function bitsOf<Item>(items: readonly Item[], isIn: (item: Item) => boolean): RuleBits {
  const bits = new Uint32Array(Math.ceil(items.length / 32));
  items.forEach((item, index) => {
    if (isIn(item)) bits[index >>> 5]! |= 1 << (index & 31);
  });
  return bits;
}

/** Index of the first rule that is in all three. */
function firstInAll(one: RuleBits, two: RuleBits, three: RuleBits): number | undefined {
  for (let word = 0; word < one.length; word++) {
    const common = one[word]! & two[word]! & three[word]!;
    if (common !== 0) return word * 32 + 31 - Math.clz32(common & -common);
  }
  return undefined;
}

/** Grants, and which of their rules each of some sets of ids and containers meets. */
class Side {
  readonly #grants: Grants;
  readonly #byId: readonly RuleBits[];
  readonly #byContainer: readonly RuleBits[];

  constructor(grants: Grants, reaches: readonly (Reach | undefined)[], ids: TextSet[], containers: TextSet[]) {
    this.#grants = grants;
    const meeting = (attribute: keyof Reach) => (set: TextSet) =>
      bitsOf(reaches, (reach) => reach !== undefined && containsSet(reach[attribute], set));
    this.#byId = ids.map(meeting('id'));
    this.#byContainer = containers.map(meeting('container'));
  }

  /** What decides about a permission on the tokens of a set of ids and one of containers. */
  deciding(permission: Permission) {
    const { permissions, rules } = this.#grants;
    const listing = bitsOf(rules, (rule) => rule.permissions.includes(permission));
    const plain = permissions.includes(permission)
      ? { transform: transformOfPlain(permission), grant: { permission } }
      : undefined;
    const deciders = rules.map(({ transform, priority }) => ({ transform, grant: { priority, permission } }));
    return (id: number, container: number): { transform: Transform; grant: ExcessiveGrant } | undefined => {
      const first = firstInAll(listing, this.#byId[id]!, this.#byContainer[container]!);
      return first === undefined ? plain : deciders[first];
    };
  }
}

/**
 * The grants of `asked` that would give more than `held` gives: on some token, a permission that `held` does not give
 * there, or one under a transform that shows more. None: whatever `asked` may do with any token, `held` may do too.
 *
 * Ids are taken to be any text, and containers any text below `/`, so that a grant may be named for the sake of a token
 * that could not be stored; what is not named is always covered.
 *
 * Sets of ids nest or are disjoint. So an id belongs to the smallest set that it is in, and all ids that belong to the
 * same set meet the same rules; likewise containers. One look at each pair of sets is a look at every token there can
 * be. Where both sides have hundreds of rules that is more than a hundred thousand pairs for each permission: hence the
 * bits.
 */
export function findExcess(asked: Grants, held: Grants): ExcessiveGrant[] {
  const [askedReaches, heldReaches] = [asked.rules.map(reachOf), held.rules.map(reachOf)];
  const reaches = [...askedReaches, ...heldReaches].filter((reach) => reach !== undefined);
  const ids = distinctSets([ANY_ID, ...reaches.map(({ id }) => id)]);
  const containers = distinctSets([ANY_CONTAINER, ...reaches.map(({ container }) => container)]);
  const asking = new Side(asked, askedReaches, ids, containers);
  const holding = new Side(held, heldReaches, ids, containers);

  const excess = new Set<ExcessiveGrant>();
  for (const permission of new Set([...asked.permissions, ...asked.rules.flatMap((rule) => rule.permissions)])) {
    const wantedAt = asking.deciding(permission);
    const hadAt = holding.deciding(permission);
    for (let id = 0; id < ids.length; id++) {
      for (let container = 0; container < containers.length; container++) {
        const wanted = wantedAt(id, container);
        if (wanted === undefined) continue;
        const had = hadAt(id, container);
        if (had === undefined || !isAsOpen(had.transform, wanted.transform)) excess.add(wanted.grant);
      }
    }
  }
  return [...excess];
}

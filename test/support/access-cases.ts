import fc from 'fast-check';
import { type AccessRule, type Condition, TRANSFORMS } from '../../src/domain/access.ts';
import type { Permission } from '../../src/domain/permissions.ts';

/** Random applications and tokens that meet in the corners: few names, many of which begin alike. */

export interface AccessCase {
  permissions: Permission[];
  /** In no particular order, with unique priorities. */
  rules: AccessRule[];
}

const SEGMENTS = ['pci', 'pci_', 'pc', 'high', 'higher', 'high-1'];

/**
 * Ids that are patterns elsewhere, that begin alike, that differ in letter case or only in how a letter is composed.
 */
const ID_PARTS = [
  'card',
  'Card',
  'car_',
  'car%',
  '%',
  '_',
  '*',
  '\\',
  "'",
  'card-1',
  'card-10',
  'é',
  'e\u0301',
  '💳',
  '.',
];

export const TOKEN_PERMISSIONS = [
  'token:create',
  'token:read',
  'token:update',
  'token:search',
  'token:use',
  'token:delete',
] as const satisfies readonly Permission[];

const lowerPath = fc
  .array(fc.constantFrom(...SEGMENTS), { maxLength: 3 })
  .map((segments) => `/${segments.map((segment) => `${segment}/`).join('')}`);

function anyCase(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: text.map((value) => value.toUpperCase()) });
}

/** A path as it is stored. */
export const storedContainer = lowerPath;
/** A path as somebody may write it. */
export const writtenContainer = anyCase(lowerPath);
export const tokenId = fc
  .array(fc.constantFrom(...ID_PARTS), { minLength: 1, maxLength: 2 })
  .map((parts) => parts.join(''));

/** The text or, as a prefix may be, its beginning: cut anywhere, but not to nothing. */
function beginning(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(text, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([whole, part]) => [...whole].slice(0, Math.max(1, Math.ceil(part * [...whole].length))).join(''));
}

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    attribute: fc.constant('id' as const),
    operator: fc.constant('starts_with' as const),
    value: beginning(tokenId),
  }),
  fc.record({ attribute: fc.constant('id' as const), operator: fc.constant('equals' as const), value: tokenId }),
  fc.record({
    attribute: fc.constant('container' as const),
    operator: fc.constant('starts_with' as const),
    value: beginning(writtenContainer),
  }),
  fc.record({
    attribute: fc.constant('container' as const),
    operator: fc.constant('equals' as const),
    value: writtenContainer,
  }),
);

const somePermissions = (maxLength: number) => fc.uniqueArray(fc.constantFrom(...TOKEN_PERMISSIONS), { maxLength });

const grant = { transform: fc.constantFrom(...TRANSFORMS), permissions: somePermissions(4) };
const unordered: fc.Arbitrary<Omit<AccessRule, 'priority'>> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ container: writtenContainer, ...grant }) },
  { weight: 4, arbitrary: fc.record({ conditions: fc.array(condition, { minLength: 1, maxLength: 3 }), ...grant }) },
  { weight: 1, arbitrary: fc.record({ conditions: fc.constant<Condition[]>([]), ...grant }) },
);

const rules = fc
  .array(unordered, { maxLength: 6 })
  .chain((list) =>
    fc
      .uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: list.length, maxLength: list.length })
      .map((priorities) => list.map((rule, index) => ({ ...rule, priority: priorities[index]! }))),
  );

export const accessCase: fc.Arbitrary<AccessCase> = fc.record({
  permissions: fc.oneof(
    { weight: 1, arbitrary: fc.constant<Permission[]>([]) },
    { weight: 2, arbitrary: somePermissions(3) },
  ),
  rules,
});

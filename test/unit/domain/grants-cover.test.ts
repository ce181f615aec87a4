import { expect } from 'chai';
import fc from 'fast-check';
import { type AccessRule, type Condition, decideAccess, type Grants, TRANSFORMS } from '../../../src/domain/access.ts';
import { type ExcessiveGrant, findExcess } from '../../../src/domain/grants-cover.ts';
import type { Permission } from '../../../src/domain/permissions.ts';

const rule = (overrides: Partial<AccessRule>): AccessRule => ({
  ...{ priority: 1, transform: 'mask', permissions: ['token:read'] },
  ...overrides,
});
const where = (...conditions: [Condition['attribute'], Condition['operator'], string][]) => ({
  conditions: conditions.map(([attribute, operator, value]) => ({ attribute, operator, value })),
});
const grants = (rules: Partial<AccessRule>[], permissions: Permission[] = []): Grants => ({
  permissions,
  rules: rules.map((overrides, index) => rule({ priority: index + 1, ...overrides })),
});

describe('grants that cover others', () => {
  const reveal = { transform: 'reveal' } as const;
  const pci = { container: '/pci/' };

  const covered: [string, Grants, Grants][] = [
    ['nothing, by nothing', grants([]), grants([])],
    ['a plain permission, by itself', grants([], ['token:read']), grants([], ['token:read'])],
    ['a plain permission, by a rule on everything', grants([], ['token:read']), grants([{ container: '/' }])],
    ['a masked container, by a plain permission', grants([pci]), grants([], ['token:read'])],
    ['a redacted container, by a masked one', grants([{ ...pci, transform: 'redact' }]), grants([pci])],
    [
      'plaintext for code, by the plain permission to use',
      grants([{ ...pci, ...reveal, permissions: ['token:use'] }]),
      grants([], ['token:use']),
    ],
    ['a container below', grants([{ container: '/pci/high/' }]), grants([pci])],
    ['a container in another letter case', grants([{ container: '/PCI/High/' }]), grants([pci])],
    ['a condition on the container', grants([where(['container', 'starts_with', '/PCI/'])]), grants([pci])],
    ['a container, by a condition', grants([pci]), grants([where(['container', 'starts_with', '/pc'])])],
    ['an id, by a container of all tokens', grants([where(['id', 'equals', 'a'])]), grants([{ container: '/' }])],
    [
      'an id, by ids that begin alike',
      grants([where(['id', 'equals', 'card-1'])]),
      grants([where(['id', 'starts_with', 'card-'])]),
    ],
    [
      'an id of a container, by the container',
      grants([where(['id', 'equals', 'a'], ['container', 'equals', '/pci/'])]),
      grants([pci]),
    ],
    [
      'conditions that no token meets',
      grants([{ ...where(['id', 'equals', 'a'], ['id', 'equals', 'b']), ...reveal }]),
      grants([]),
    ],
    [
      'a rule that an earlier one leaves nothing to',
      grants([pci, { container: '/pci/high/', ...reveal }]),
      grants([pci]),
    ],
    [
      'a permission, where the same exception is made',
      grants([{ ...pci, transform: 'redact' }], ['token:read']),
      grants([{ ...pci, transform: 'redact' }], ['token:read']),
    ],
    ['a container, by two that make it up', grants([pci]), grants([{ container: '/pci/high/' }, pci])],
  ];
  for (const [name, asked, held] of covered) {
    it(`covers ${name}`, () => {
      expect(findExcess(asked, held)).to.deep.equal([]);
    });
  }

  const first: ExcessiveGrant = { priority: 1, permission: 'token:read' };
  const plain: ExcessiveGrant = { permission: 'token:read' };
  const excessive: [string, Grants, Grants, ExcessiveGrant][] = [
    ['a permission that is not held', grants([], ['token:read']), grants([], ['token:create']), plain],
    [
      'a plain permission, where it is held in a container',
      grants([], ['token:read']),
      grants([{ ...pci, ...reveal }]),
      plain,
    ],
    [
      'a plain permission, where an exception is made',
      grants([], ['token:read']),
      grants([{ ...pci, transform: 'redact' }], ['token:read']),
      plain,
    ],
    ['plaintext, where masks are held', grants([{ ...pci, ...reveal }]), grants([], ['token:read']), first],
    ['a container above', grants([pci]), grants([{ container: '/pci/high/' }]), first],
    ['a container beside', grants([pci]), grants([{ container: '/bank/' }]), first],
    [
      'a condition that reaches beyond the container',
      grants([where(['container', 'starts_with', '/pci'])]),
      grants([pci]),
      first,
    ],
    [
      'ids that begin alike, where one is held',
      grants([where(['id', 'starts_with', 'a'])]),
      grants([where(['id', 'equals', 'a'])]),
      first,
    ],
    [
      'an id in another letter case',
      grants([where(['id', 'equals', 'A'])]),
      grants([where(['id', 'equals', 'a'])]),
      first,
    ],
    ['an id, where it is held in a container', grants([where(['id', 'equals', 'a'])]), grants([pci]), first],
    [
      'a container of which part is redacted',
      grants([{ ...pci, ...reveal }]),
      grants([
        { container: '/pci/high/', transform: 'redact' },
        { ...pci, ...reveal },
      ]),
      first,
    ],
    [
      'a later rule for another permission',
      grants([pci, { ...pci, permissions: ['token:delete'] }]),
      grants([pci]),
      { priority: 2, permission: 'token:delete' },
    ],
  ];
  for (const [name, asked, held, excess] of excessive) {
    it(`names ${name}`, () => {
      expect(findExcess(asked, held)).to.deep.equal([excess]);
    });
  }

  it('names every grant that gives more, and no other', () => {
    const asked = grants([pci, { container: '/bank/' }, { container: '/pii/' }], ['token:update']);
    expect(findExcess(asked, grants([{ container: '/bank/' }]))).to.have.deep.members([
      { permission: 'token:update' },
      { priority: 1, permission: 'token:read' },
      { priority: 3, permission: 'token:read' },
    ]);
  });

  it('compares two hundred rules that all lie within each other without holding others up', () => {
    const nested = (permissions: Permission[]) =>
      grants(
        Array.from({ length: 200 }, (_, depth) => ({
          ...where(
            ['id', 'starts_with', 'a'.repeat(200 - depth)],
            ['container', 'starts_with', `/${'a'.repeat(depth)}`],
          ),
          permissions,
        })),
      );
    const all: Permission[] = [
      'token:create',
      'token:read',
      'token:update',
      'token:delete',
      'token:search',
      'token:use',
    ];
    const started = process.cpuUsage();
    expect(findExcess(nested(all), nested(all))).to.deep.equal([]);
    expect(process.cpuUsage(started).user / 1000).to.be.below(200);
  });

  describe('on every token of a small world', () => {
    const ids = ['a', 'ab', 'abc', 'b', 'A', 'ba'];
    const containers = ['/', '/p/', '/p/h/', '/p/h/x/', '/q/', '/pq/'];
    const tokens = ids.flatMap((id) => containers.map((container) => ({ id, container })));
    const permissions = ['token:read', 'token:use', 'token:create'] as const satisfies Permission[];

    const permissionSet = fc.subarray([...permissions]);
    const condition = fc.oneof(
      fc.record({
        attribute: fc.constant('id' as const),
        operator: fc.constantFrom('equals', 'starts_with'),
        value: fc.constantFrom(...ids),
      }),
      fc.record({
        attribute: fc.constant('container' as const),
        operator: fc.constantFrom('equals', 'starts_with'),
        value: fc.constantFrom(...containers, '/P/', '/p', 'p'),
      }),
    ) as fc.Arbitrary<Condition>;
    const scope: fc.Arbitrary<Pick<AccessRule, 'container' | 'conditions'>> = fc.oneof(
      fc.record({ container: fc.constantFrom(...containers) }),
      fc.record({ conditions: fc.array(condition, { minLength: 1, maxLength: 3 }) }),
    );
    const someRule = fc
      .tuple(scope, fc.constantFrom(...TRANSFORMS), permissionSet)
      .map(([within, transform, listed]) => ({ ...within, transform, permissions: listed }));
    const someGrants = fc
      .tuple(fc.array(someRule, { maxLength: 4 }), permissionSet)
      .map(([rules, plainly]) => grants(rules, plainly));
    const openness = (given: Grants, permission: Permission, token: (typeof tokens)[number]) => {
      const transform = decideAccess(given, permission, token);
      return transform === undefined ? -1 : TRANSFORMS.indexOf(transform);
    };
    const givesMore = (asked: Grants, held: Grants) =>
      tokens.some((token) =>
        permissions.some((permission) => openness(asked, permission, token) > openness(held, permission, token)),
      );

    it('lets none through that gives more anywhere', () => {
      fc.assert(
        fc.property(someGrants, someGrants, (asked, held) => {
          if (findExcess(asked, held).length === 0) expect(givesMore(asked, held)).to.equal(false);
        }),
        { numRuns: 20_000 },
      );
    });

    it('lets through whatever makes less of what is held', () => {
      const narrowed = fc
        .tuple(someGrants, fc.nat(), fc.constantFrom(...TRANSFORMS))
        .map(([held, index, transform]) => {
          const at = held.rules.length === 0 ? -1 : index % held.rules.length;
          const lower = (was: AccessRule) =>
            TRANSFORMS.indexOf(transform) < TRANSFORMS.indexOf(was.transform) ? { ...was, transform } : was;
          return { held, asked: { ...held, rules: held.rules.map((was, place) => (place === at ? lower(was) : was)) } };
        });
      fc.assert(
        fc.property(narrowed, ({ held, asked }) => {
          expect(findExcess(asked, held)).to.deep.equal([]);
        }),
      );
    });

    it('refuses few that give no more anywhere', () => {
      let refused = 0;
      let sound = 0;
      fc.assert(
        fc.property(someGrants, someGrants, (asked, held) => {
          if (givesMore(asked, held)) return;
          sound++;
          if (findExcess(asked, held).length > 0) refused++;
        }),
        { numRuns: 5_000, seed: 1 },
      );
      // Those that reach only tokens outside of this world, which may yet be stored.
      expect(refused / sound).to.be.below(0.2);
    });
  });
});

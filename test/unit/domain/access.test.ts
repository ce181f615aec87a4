import { expect } from 'chai';
import {
  type AccessRule,
  type Condition,
  decideAccess,
  type Grants,
  holdsAnywhere,
  isWithin,
} from '../../../src/domain/access.ts';
import type { Permission } from '../../../src/domain/permissions.ts';

const card = { id: 'card-1', container: '/pci/high/' };
const rule = (overrides: Partial<AccessRule>): AccessRule => ({
  ...{ priority: 1, transform: 'reveal', permissions: ['token:read'] },
  ...overrides,
});
const condition = (attribute: Condition['attribute'], operator: Condition['operator'], value: string) => ({
  attribute,
  operator,
  value,
});

describe('access decisions', () => {
  for (const [name, grants, expected] of [
    ['nothing granted', {}, undefined],
    ['a plain permission', { permissions: ['token:read'] }, 'mask'],
    ['another plain permission', { permissions: ['token:create'] }, undefined],
    ['a rule on the container', { rules: [rule({ container: '/pci/high/' })] }, 'reveal'],
    ['a rule on a container above', { rules: [rule({ container: '/pci/' })] }, 'reveal'],
    ['a rule on everything', { rules: [rule({ container: '/' })] }, 'reveal'],
    ['a rule in another letter case', { rules: [rule({ container: '/PCI/High/' })] }, 'reveal'],
    ['a rule on a container below', { rules: [rule({ container: '/pci/high/secret/' })] }, undefined],
    ['a rule on a container whose name begins alike', { rules: [rule({ container: '/pc/' })] }, undefined],
    ['a rule without the permission', { rules: [rule({ container: '/', permissions: ['token:create'] })] }, undefined],
    [
      'the first of two rules',
      { rules: [rule({ container: '/', transform: 'redact' }), rule({ container: '/pci/' })] },
      'redact',
    ],
    [
      'the second where the first is elsewhere',
      { rules: [rule({ container: '/bank/', transform: 'redact' }), rule({ container: '/pci/' })] },
      'reveal',
    ],
    [
      'a rule before a plain permission',
      { permissions: ['token:read'], rules: [rule({ container: '/pci/', transform: 'redact' })] },
      'redact',
    ],
    [
      'a plain permission where no rule matches',
      { permissions: ['token:read'], rules: [rule({ container: '/bank/' })] },
      'mask',
    ],
    ['an id that equals', { rules: [rule({ conditions: [condition('id', 'equals', 'card-1')] })] }, 'reveal'],
    ['an id that begins alike', { rules: [rule({ conditions: [condition('id', 'starts_with', 'card-')] })] }, 'reveal'],
    [
      'an id in another letter case',
      { rules: [rule({ conditions: [condition('id', 'equals', 'CARD-1')] })] },
      undefined,
    ],
    [
      'a container that equals',
      { rules: [rule({ conditions: [condition('container', 'equals', '/PCI/high/')] })] },
      'reveal',
    ],
    [
      'a container above with equals',
      { rules: [rule({ conditions: [condition('container', 'equals', '/pci/')] })] },
      undefined,
    ],
    [
      'conditions of which one fails',
      {
        rules: [
          rule({
            conditions: [condition('id', 'starts_with', 'card-'), condition('container', 'starts_with', '/bank/')],
          }),
        ],
      },
      undefined,
    ],
    ['no conditions at all', { rules: [rule({ conditions: [] })] }, undefined],
    ['neither container nor conditions', { rules: [rule({})] }, undefined],
  ] as [string, Partial<Grants>, string | undefined][]) {
    it(`${name}: ${expected ?? 'refused'}`, () => {
      expect(decideAccess({ permissions: [], rules: [], ...grants }, 'token:read', card)).to.equal(expected);
    });
  }

  it('hand plaintext to code under a plain token:use', () => {
    expect(decideAccess({ permissions: ['token:use'], rules: [] }, 'token:use', card)).to.equal('reveal');
  });

  it('compare containers whole segment by whole segment', () => {
    expect(isWithin('/pci/high/', '/pci/')).to.equal(true);
    expect(isWithin('/pci-2/high/', '/pci/')).to.equal(false);
    expect(isWithin('/pci/', '/pci/high/')).to.equal(false);
  });

  it('know a permission that is held somewhere', () => {
    const grants: Grants = { permissions: ['token:create'], rules: [rule({ container: '/never/' })] };
    expect(
      ['token:create', 'token:read', 'token:delete'].map((name) => holdsAnywhere(grants, name as Permission)),
    ).to.deep.equal([true, true, false]);
  });
});

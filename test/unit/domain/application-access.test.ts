import { expect } from 'chai';
import { checkAccess, normalizeRules, type RequestedAccess } from '../../../src/domain/application-access.ts';
import { type DomainError, ViolationCollector, type Violations } from '../../../src/domain/errors.ts';

type Rule = RequestedAccess['rules'][number];

const rule = (overrides: Partial<Rule> = {}): Rule => ({
  priority: 1,
  container: '/pci/',
  transform: 'mask',
  permissions: ['token:read'],
  ...overrides,
});

function faultsOf(access: Partial<RequestedAccess>): Violations {
  const violations = new ViolationCollector();
  checkAccess({ type: 'private', permissions: [], rules: [], ...access }, violations);
  try {
    violations.throwIfAny();
    return {};
  } catch (error) {
    return (error as DomainError).violations!;
  }
}

describe('the access of an application', () => {
  it('is good with permissions, with rules, or with both', () => {
    expect(faultsOf({ permissions: ['token:create'] })).to.deep.equal({});
    expect(faultsOf({ rules: [rule()] })).to.deep.equal({});
    expect(faultsOf({ permissions: ['token:create'], rules: [rule()] })).to.deep.equal({});
  });

  it('may narrow a rule by conditions in the place of a container', () => {
    const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'card-' }] as const;
    expect(faultsOf({ rules: [rule({ container: undefined, conditions: [...conditions] })] })).to.deep.equal({});
  });

  it('must not be empty', () => {
    expect(faultsOf({})).to.have.all.keys('permissions');
  });

  it('names every permission that there is not, and every one of another application type', () => {
    const faults = faultsOf({ permissions: ['token:create', 'token:steal', 'application:read'] });
    expect(faults).to.deep.equal({
      'permissions[1]': ['is not a permission'],
      'permissions[2]': ['must be one that a private application may hold'],
    });
  });

  it('does not take the members of every object for permissions', () => {
    expect(faultsOf({ permissions: ['constructor', 'toString', '__proto__'] })).to.have.all.keys(
      'permissions[0]',
      'permissions[1]',
      'permissions[2]',
    );
  });

  it('must not name a permission twice', () => {
    expect(faultsOf({ permissions: ['token:read', 'token:read'] })).to.have.all.keys('permissions');
  });

  it('has at most 50 permissions', () => {
    const faults = faultsOf({ permissions: Array.from({ length: 51 }, (_, index) => `token:x${index}`) });
    expect(faults['permissions']).to.deep.equal(['must not have more than 50 entries']);
  });

  it('has no rules where the application is for management', () => {
    expect(faultsOf({ type: 'management', permissions: ['log:read'], rules: [rule()] })).to.have.all.keys('rules');
  });

  it('lets a public application create and update tokens, and no more', () => {
    expect(faultsOf({ type: 'public', permissions: ['token:create', 'token:update'] })).to.deep.equal({});
    expect(faultsOf({ type: 'public', permissions: ['token:read', 'token:use'] })).to.have.all.keys(
      'permissions[0]',
      'permissions[1]',
    );
    expect(faultsOf({ type: 'public', rules: [rule()] })).to.have.all.keys('rules[0].permissions[0]');
  });

  for (const [what, overrides, path] of [
    ['both a container and conditions', { conditions: [] }, 'rules[0]'],
    ['neither a container nor conditions', { container: undefined }, 'rules[0]'],
    ['no condition at all', { container: undefined, conditions: [] }, 'rules[0].conditions'],
    ['a container without its closing slash', { container: '/pci' }, 'rules[0].container'],
    ['a container with a forbidden character', { container: '/p ci/' }, 'rules[0].container'],
    ['no permission', { permissions: [] }, 'rules[0].permissions'],
    ['an unknown permission', { permissions: ['nope'] }, 'rules[0].permissions[0]'],
    ['a permission twice', { permissions: ['token:read', 'token:read'] }, 'rules[0].permissions'],
  ] as const) {
    it(`has no rule with ${what}`, () => {
      expect(faultsOf({ rules: [rule(overrides as Partial<Rule>)] })).to.include.keys(path);
    });
  }

  it('gives each priority to one rule', () => {
    expect(faultsOf({ rules: [rule(), rule(), rule({ priority: 2 })] })).to.deep.equal({
      'rules[1].priority': ['must be unique in the application'],
    });
  });

  it('is told all of its faults at once', () => {
    const faults = faultsOf({
      permissions: ['nope'],
      rules: [rule({ container: 'x', permissions: ['log:read'] }), rule({ conditions: [] })],
    });
    expect(faults).to.have.all.keys(
      'permissions[0]',
      'rules[0].container',
      'rules[0].permissions[0]',
      'rules[1]',
      'rules[1].conditions',
      'rules[1].priority',
    );
  });

  it('is stored in the order in which rules are tried, with containers in lower case', () => {
    const stored = normalizeRules([rule({ priority: 7 }), rule({ priority: 2, container: '/PCI/High/' })]);
    expect(stored.map(({ priority }) => priority)).to.deep.equal([2, 7]);
    expect(stored[0]).to.deep.equal({
      ...{ priority: 2, container: '/pci/high/', transform: 'mask', permissions: ['token:read'] },
    });
  });
});

import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { decideAccess, holdsAnywhere } from '../../../src/domain/access.ts';
import { normalizeRules } from '../../../src/domain/application-access.ts';
import type { Permission } from '../../../src/domain/permissions.ts';
import {
  accessCase,
  type AccessCase,
  TOKEN_PERMISSIONS,
  tokenId,
  writtenContainer,
} from '../../support/access-cases.ts';
import { createOutcomeCounts } from '../../support/outcome-counts.ts';
import { judge, mayEver, type ReferenceToken, type ReferenceVerdict } from '../../support/reference-access.ts';

const CASES = 100_000;

const KINDS = [
  'refused: held nowhere',
  'refused: held elsewhere',
  'refused: only a container that begins alike is granted',
  'refused: only an id in another letter case is granted',
  'mask by a plain permission, no rule lists it',
  'mask by a plain permission, its rules do not match',
  'reveal by a plain permission to use',
  'a plain permission to delete',
  'redact by a rule',
  'mask by a rule',
  'reveal by a rule',
  'by a rule on everything',
  'by a rule on a container above',
  'by a rule in another letter case',
  'by a rule with several conditions',
  'by a rule before a plain permission',
  'by the first of several rules that match',
  'by a rule that was given after one that it precedes',
] as const;
type Kind = (typeof KINDS)[number];

function kindsOfRefusal(held: AccessCase, permission: Permission, token: ReferenceToken): Kind[] {
  if (!mayEver(held, permission)) return ['refused: held nowhere'];
  const scopes = held.rules.filter((rule) => rule.permissions.includes(permission));
  const kinds: Kind[] = ['refused: held elsewhere'];
  if (scopes.some(({ container }) => container && token.container.startsWith(container.slice(0, -1)))) {
    kinds.push('refused: only a container that begins alike is granted');
  }
  const idConditions = scopes.flatMap(({ conditions = [] }) =>
    conditions.filter(({ attribute }) => attribute === 'id'),
  );
  if (idConditions.some(({ value }) => value !== token.id && value.toLowerCase() === token.id.toLowerCase())) {
    kinds.push('refused: only an id in another letter case is granted');
  }
  return kinds;
}

function kindsOfPlain(held: AccessCase, permission: Permission): Kind[] {
  if (permission === 'token:use') return ['reveal by a plain permission to use'];
  if (permission === 'token:delete') return ['a plain permission to delete'];
  const isListed = held.rules.some((rule) => rule.permissions.includes(permission));
  return [
    isListed ? 'mask by a plain permission, its rules do not match' : 'mask by a plain permission, no rule lists it',
  ];
}

function kindsOfRule(held: AccessCase, permission: Permission, token: ReferenceToken, priority: number): Kind[] {
  const decided = held.rules.find((rule) => rule.priority === priority)!;
  const { container, conditions = [] } = decided;
  const matching = held.rules.filter((rule) => judge({ permissions: [], rules: [rule] }, permission, token).allowed);
  return [
    `${decided.transform} by a rule`,
    ...(container === '/' ? (['by a rule on everything'] as const) : []),
    ...(container && container.length < token.container.length ? (['by a rule on a container above'] as const) : []),
    ...(container && !token.container.startsWith(container) ? (['by a rule in another letter case'] as const) : []),
    ...(conditions.length > 1 ? (['by a rule with several conditions'] as const) : []),
    ...(held.permissions.includes(permission) ? (['by a rule before a plain permission'] as const) : []),
    ...(matching.length > 1 ? (['by the first of several rules that match'] as const) : []),
    ...(matching[0] !== decided ? (['by a rule that was given after one that it precedes'] as const) : []),
  ];
}

function kindsOf(held: AccessCase, permission: Permission, token: ReferenceToken, verdict: ReferenceVerdict): Kind[] {
  if (!verdict.allowed) return kindsOfRefusal(held, permission, token);
  if (verdict.by === 'permission') return kindsOfPlain(held, permission);
  return kindsOfRule(held, permission, token, verdict.by);
}

describe('access decisions against the reference model', function () {
  this.timeout(120_000);

  it(`agree in ${CASES.toLocaleString('en')} random cases, which come to every kind of outcome`, () => {
    const outcomes = createOutcomeCounts(KINDS);
    const seed = randomInt(2 ** 31);
    const permission = fc.constantFrom(...TOKEN_PERMISSIONS);
    const token = fc.record({ id: tokenId, container: writtenContainer });
    fc.assert(
      fc.property(accessCase, permission, token, (held, asked, subject) => {
        const grants = { permissions: held.permissions, rules: normalizeRules(held.rules) };
        const verdict = judge(held, asked, subject);
        for (const kind of kindsOf(held, asked, subject, verdict)) outcomes.count(kind);

        const transform = decideAccess(grants, asked, subject);
        expect(transform !== undefined, 'allowed').to.equal(verdict.allowed);
        // Nothing is shown after a delete: the specification names no transform for it.
        if (verdict.allowed && verdict.transform !== 'none') expect(transform).to.equal(verdict.transform);
        expect(holdsAnywhere(grants, asked), 'held somewhere').to.equal(mayEver(held, asked));
      }),
      { numRuns: CASES, seed },
    );
    process.stdout.write(`      seed ${seed}\n${outcomes.toString()}`);
    expect(outcomes.missing).to.deep.equal([]);
  });
});

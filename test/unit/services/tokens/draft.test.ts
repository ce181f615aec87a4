import { expect } from 'chai';
import { DomainError } from '../../../../src/domain/errors.ts';
import { DEFAULT_SETTINGS } from '../../../../src/domain/tenants.ts';
import { RequestBudget } from '../../../../src/expressions/request-budget.ts';
import { type DraftContext, draftToken, wholeData } from '../../../../src/services/tokens/draft.ts';
import type { TokenInput } from '../../../../src/services/tokens/form.ts';
import { violationsOf } from '../../expressions/violations.ts';

const NUMBER = '4242424242424242';
const card: TokenInput = { type: 'card', data: { number: NUMBER, cvc: '987' } };
const draft = (input: TokenInput, context: Partial<DraftContext> = {}) =>
  draftToken(input, { settings: DEFAULT_SETTINGS, now: Date.parse('2030-01-01'), path: '', ...context });

describe('drafts of tokens', () => {
  it('fill in what the type decides', () => {
    const { id: _id, otherIds: _otherIds, ...rest } = draft(card);
    expect(rest).to.deep.equal({
      type: 'card',
      container: '/pci/high/',
      data: { number: NUMBER },
      cvc: '987',
      mask: {
        number: '{{ data.number | reveal_last: 4 }}',
        expiration_month: '{{ data.expiration_month }}',
        expiration_year: '{{ data.expiration_year }}',
      },
      metadata: {},
      searchIndexes: null,
      searchValues: [],
      fingerprintExpression: '{{ data.number }}',
      fingerprintValue: NUMBER,
      deduplicate: false,
      expiresAt: null,
    });
  });

  it('give the data back whole', () => {
    expect(wholeData(draft(card))).to.deep.equal(card.data);
    expect(wholeData(draft({ type: 'token', data: [1] }))).to.deep.equal([1]);
  });

  it('evaluate expressions over data and metadata, and nothing else', () => {
    const input: TokenInput = {
      ...{ type: 'token', data: { n: 5 }, metadata: { m: 'x' }, id: 'id-{{ data.n }}{{ metadata.m }}' },
      ...{ search_indexes: ['{{ data.n }}', '{{ metadata.m }}'], fingerprint_expression: '{{ data.n }}' },
    };
    expect(draft(input)).to.deep.include({ id: 'id-5x', searchValues: ['5', 'x'], fingerprintValue: '5' });
    expect(() => draft({ ...input, fingerprint_expression: '{{ data.n }}{{ type }}' }))
      .to.throw(DomainError)
      .with.deep.property('violations', { fingerprint_expression: ['has an unknown variable type'] });
  });

  it('have search values of types that have default indexes', () => {
    const { searchValues } = draft({ type: 'social_security_number', data: '123-45-6789' });
    expect(searchValues).to.deep.equal(['123-45-6789', '123456789', '6789']);
    expect(
      draft({ type: 'social_security_number', data: '123-45-6789', search_indexes: null }).searchValues,
    ).to.deep.equal([]);
  });

  it('have no fingerprint where the tenant wants none, or the expression gives nothing', () => {
    const settings = { ...DEFAULT_SETTINGS, fingerprintTokens: false };
    expect(draft(card, { settings }).fingerprintValue).to.equal(null);
    expect(draft({ ...card, fingerprint_expression: '{{ data.none }}' }).fingerprintValue).to.equal(null);
  });

  it('follow the tenant in what they do about duplicates, unless told otherwise', () => {
    const settings = { ...DEFAULT_SETTINGS, deduplicateTokens: true };
    expect(draft(card, { settings }).deduplicate).to.equal(true);
    expect(draft({ ...card, deduplicate_token: false }, { settings }).deduplicate).to.equal(false);
  });

  it('must expire after now, to the millisecond', () => {
    expect(violationsOf(() => draft({ ...card, expires_at: '2030-01-01' }))).to.deep.equal({
      expires_at: ['must be in the future'],
    });
    expect(draft({ ...card, expires_at: '2030-01-01T00:00:00.001Z' }).expiresAt).to.deep.equal(
      new Date('2030-01-01T00:00:00.001Z'),
    );
  });

  it('name faults below the path at which the input lies', () => {
    const input = { type: 'card', data: { number: 'x' }, mask: '{{', search_indexes: ['{{'], containers: ['x'] };
    expect(Object.keys(violationsOf(() => draft(input, { path: 'a[1]' })))).to.have.members([
      ...['a[1].data.number', 'a[1].mask', 'a[1].search_indexes[0]', 'a[1].containers[0]'],
    ]);
  });

  it('never evaluate a card verification code', () => {
    const input = {
      ...card,
      fingerprint_expression: '{{ data | stringify }}',
      search_indexes: ['{{ data | stringify }}'],
    };
    const { fingerprintValue, searchValues } = draft(input);
    expect([fingerprintValue, ...searchValues].join()).not.to.contain('987');
  });

  it('are refused where their expressions take too long together', () => {
    const input: TokenInput = {
      ...{ type: 'token', data: 'a'.repeat(40_000), mask: '{{ data | last4 }}' },
      search_indexes: Array.from({ length: 4 }, () => '{{ data | reveal_last: 4 | slice: 0, 3 }}'),
    };
    const faults = violationsOf(() => draft(input, { budget: new RequestBudget(0) }));
    expect(faults).to.include.keys('search_indexes[3]', 'fingerprint_expression').and.not.to.have.property('mask');
    expect(draft(input).searchValues).to.have.length(4);
  });
});

describe('ids of drafts', () => {
  const idsOf = (input: Partial<TokenInput>) => {
    const { id, otherIds } = draft({ type: 'token', data: 'x', ...input });
    return [id, ...otherIds];
  };

  it('are the given one alone', () => expect(idsOf({ id: 'given' })).to.deep.equal(['given']));

  it('are one random UUID', () => {
    expect(idsOf({})).to.have.length(1);
    expect(idsOf({})).not.to.deep.equal(idsOf({}));
  });

  it('are five values of an expression and then a UUID', () => {
    const ids = idsOf({ id: 'a-{{ data | alias_preserve_length }}' });
    expect(ids).to.have.length(6);
    expect(ids.slice(0, 5).every((id) => /^a-[A-Za-z0-9]$/.test(id))).to.equal(true);
    expect(ids[5]).to.match(/^[0-9a-f-]{36}$/);
  });

  for (const [name, input] of [
    ['too short a value', { id: '{{ data }}' }],
    ['a value with forbidden characters', { id: '{{ data }}', data: 'a/b/c' }],
    ['the data', { id: '{{ data }}', type: 'card_number', data: NUMBER }],
    ['the data amid text', { id: `x-${NUMBER}`, type: 'card', data: { number: NUMBER } }],
    ['the data without its hyphens', { id: 'x123456789', type: 'social_security_number', data: '123-45-6789' }],
    ['the data with other hyphens', { id: '12-345-6789', type: 'social_security_number', data: '123456789' }],
    ['a short value as it is', { id: '123', type: 'us_bank_account_number', data: '123' }],
  ] as [string, Partial<TokenInput>][]) {
    it(`cannot be ${name}`, () => expect(Object.keys(violationsOf(() => idsOf(input)))).to.deep.equal(['id']));
  }

  it('may hold digits that are the data by chance', () => {
    expect(idsOf({ id: 'order-12345', type: 'us_bank_account_number', data: '123' })).to.deep.equal(['order-12345']);
  });
});

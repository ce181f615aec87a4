import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Token } from '../../../../src/domain/tokens.ts';
import { RequestBudget } from '../../../../src/expressions/request-budget.ts';
import { presentToken } from '../../../../src/api/routes/tokens/present.ts';
import {
  maskAtMost,
  maskedData,
  showEnriched,
  showIdentity,
  showOutline,
  showToken,
} from '../../../../src/services/tokens/show.ts';

const SECRET = 'plaintext-of-the-token';
const token = (overrides: Partial<Token> = {}): Token => ({
  ...{ tenantId: randomUUID(), id: 'one', type: 'token', container: '/general/high/', data: SECRET, mask: null },
  ...{ metadata: { k: 'v' }, searchIndexes: ['{{ data }}'], fingerprint: 'f', fingerprintExpression: '{{ data }}' },
  ...{ expiresAt: null, createdBy: randomUUID(), createdAt: new Date(), modifiedBy: null, modifiedAt: null },
  ...overrides,
});

describe('how tokens are shown', () => {
  it('holds plaintext under reveal alone', () => {
    expect(showToken(token(), 'reveal').data).to.equal(SECRET);
    for (const shown of [
      ...[showToken(token(), 'mask'), showToken(token(), 'redact')],
      ...[showToken(token({ mask: 'm' }), 'mask'), showOutline(token()), showIdentity(token())],
    ]) {
      expect(JSON.stringify(shown)).not.to.contain(SECRET);
      expect(JSON.stringify(presentToken(shown))).not.to.contain(SECRET);
    }
  });

  it('evaluates the mask over data and metadata', () => {
    expect(maskedData(token({ mask: { a: '{{ data | last4 }}', b: '{{ metadata.k }}', c: 5 } }))).to.deep.equal({
      a: 'oken',
      b: 'v',
      c: 5,
    });
  });

  it('redacts where there is no mask, or it would show the data', () => {
    for (const mask of [null, '{{ data }}', SECRET]) expect(maskedData(token({ mask }))).to.equal(undefined);
    const card = { type: 'card', data: { number: '4242424242424242', cvc: '987' } };
    for (const mask of ['{{ data }}', { number: '{{ data.number }}' }]) {
      expect(maskedData(token({ ...card, mask }))).to.equal(undefined);
    }
  });

  it('redacts where the mask holds the very value that it is there to hide', () => {
    const data = { number: '4242424242424242' };
    for (const mask of [
      { n: '{{ data.number }}' },
      'No. {{ data.number }} ',
      [{ n: '{{ data.number | slice: 0, 8 }}-{{ data.number | slice: 8, 8 }}' }],
    ]) {
      expect(maskedData(token({ type: 'card', data, mask })), JSON.stringify(mask)).to.equal(undefined);
    }
    expect(maskedData(token({ type: 'card', data, mask: '{{ data.number | slice: 0, 8 }}' }))).to.equal('42424242');
    const bank = { routing_number: '021000021', account_number: '021' };
    const routing = '{{ data.routing_number }}';
    expect(maskedData(token({ type: 'bank', data: bank, mask: routing })), 'a short value by chance').to.equal(
      '021000021',
    );
  });

  it('redacts where the mask fails on the data', () => {
    expect(maskedData(token({ mask: '{{ data | to_number }}' }))).to.equal(undefined);
  });

  it('never masks with a card verification code', () => {
    const data = { number: '4242424242424242', cvc: '987' };
    const mask = ['{{ data.cvc }}', '{{ data | stringify | slice: 0, 20 }}', '{{ data | stringify | slice: 20, 90 }}'];
    const masked = maskedData(token({ type: 'card', data, mask }));
    expect(masked).to.have.nested.property('[0]', null);
    expect(JSON.stringify(masked)).not.to.contain('987');
  });

  it('redacts, without failing, once the masks of a request have taken too long', () => {
    const slow = token({ data: 'a'.repeat(40_000), mask: '{{ data | reveal_last: 4 }}' });
    const budget = new RequestBudget(0);
    expect(showToken(slow, 'mask', budget)).to.have.property('data');
    for (const mask of [slow.mask, '{{ data | last4 }}']) {
      expect(showToken({ ...slow, mask }, 'mask', budget)).not.to.have.property('data');
    }
    expect(showToken({ ...slow, mask: 'plain' }, 'mask', budget).data).to.equal('plain');
  });

  it('shows writes masked at most', () => {
    expect((['redact', 'mask', 'reveal'] as const).map(maskAtMost)).to.deep.equal(['redact', 'mask', 'mask']);
  });

  it('adds enrichments to cards only', () => {
    expect(showEnriched(token())).not.to.have.property('enrichments');
    const shown = showEnriched(token({ type: 'card_number', data: '4242424242424242' }));
    expect(presentToken(shown)).to.have.nested.property('enrichments.card_details.last4', '4242');
  });

  it('presents an identity and an outline as no more than they are', () => {
    expect(presentToken(showIdentity(token()))).to.have.all.keys(
      'id',
      'type',
      'tenant_id',
      'fingerprint',
      'containers',
    );
    expect(presentToken(showOutline(token()))).to.have.all.keys(
      ...['id', 'type', 'tenant_id', 'fingerprint', 'containers', 'created_by', 'created_at'],
    );
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../../../src/domain/json.ts';
import { TOKEN_TYPES } from '../../../../src/domain/token-types.ts';
import type { Token } from '../../../../src/domain/tokens.ts';
import { maskedData } from '../../../../src/services/tokens/show.ts';

/** Card numbers of every length; whether their check digit is right is nothing to a mask. */
const cardNumbers = fc
  .integer({ min: 13, max: 19 })
  .chain((length) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length }));

const tokenOf = (type: 'card' | 'card_number', data: Json): Token => ({
  ...{ tenantId: randomUUID(), id: 'one', type, container: '/pci/high/', data, mask: TOKEN_TYPES[type].mask },
  ...{ metadata: {}, searchIndexes: null, fingerprint: null, fingerprintExpression: null, expiresAt: null },
  ...{ createdBy: randomUUID(), createdAt: new Date(), modifiedBy: null, modifiedAt: null },
});

describe('the masks that cards have by default', () => {
  it('show the last four digits of any number, and no other', () => {
    fc.assert(
      fc.property(cardNumbers, (number) => {
        const hidden = 'X'.repeat(number.length - 4) + number.slice(-4);
        const card = maskedData(tokenOf('card', { number, cvc: '987' }));
        expect(card).to.deep.equal({ number: hidden, expiration_month: null, expiration_year: null });
        expect(maskedData(tokenOf('card_number', number))).to.equal(hidden);
      }),
    );
  });
});

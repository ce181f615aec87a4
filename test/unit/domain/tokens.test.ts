import { expect } from 'chai';
import { isContainer, normalizeContainer } from '../../../src/domain/containers.ts';
import { ViolationCollector } from '../../../src/domain/errors.ts';
import { enrichmentsOf } from '../../../src/domain/card-details.ts';
import {
  identifyingValue,
  isTokenTypeName,
  splitCvc,
  TOKEN_TYPE_NAMES,
  TOKEN_TYPES,
} from '../../../src/domain/token-types.ts';
import { faultOfTokenId } from '../../../src/domain/tokens.ts';
import { SAMPLES } from '../../support/sample-data.ts';

describe('ids of tokens', () => {
  for (const id of ['abc', 'x'.repeat(400), 'a b', 'Ünïcödé', 'a:b@c.d~e', '"quoted"', "it's", '😀😀']) {
    it(`may be ${id.slice(0, 20)}`, () => expect(faultOfTokenId(id)).to.equal(undefined));
  }

  for (const character of '#/\\+?[]|&=%<>{}^\0\n\u007f\ud800') {
    it(`may not hold ${JSON.stringify(character)}`, () => {
      for (const id of [`${character}abc`, `ab${character}c`, `abc${character}`]) {
        expect(faultOfTokenId(id), id).to.be.a('string');
      }
    });
  }

  for (const id of ['', 'ab', 'x'.repeat(401), ' abc', 'abc ', '   ']) {
    it(`may not be ${JSON.stringify(id.slice(0, 20))}`, () => expect(faultOfTokenId(id)).to.be.a('string'));
  }
});

describe('containers', () => {
  for (const path of ['/', '/a/', '/a-b_9/c/']) it(`may be ${path}`, () => expect(isContainer(path)).to.equal(true));
  for (const path of ['', 'a/', '/a', '//', '/a//', '/A/', '/a b/', '/a.b/', '/a/\n', `/${'x'.repeat(399)}/`]) {
    it(`may not be ${JSON.stringify(path.slice(0, 20))}`, () => expect(isContainer(path)).to.equal(false));
  }

  it('have one spelling', () => expect(normalizeContainer('/PCI/High/')).to.equal('/pci/high/'));
});

describe('token types', () => {
  for (const type of TOKEN_TYPE_NAMES) {
    it(`${type} takes its sample and keeps it where it says`, () => {
      const violations = new ViolationCollector();
      TOKEN_TYPES[type].validate(SAMPLES[type].data, 'data', violations);
      expect(violations.isEmpty).to.equal(true);
      expect(TOKEN_TYPES[type].container).to.equal(SAMPLES[type].container);
      expect(isContainer(TOKEN_TYPES[type].container)).to.equal(true);
    });
  }

  it('are not found by the names of prototypes', () => {
    for (const name of ['constructor', '__proto__', 'toString']) expect(isTokenTypeName(name)).to.equal(false);
  });

  it('report every fault of an object, and never what is in it', () => {
    const violations = new ViolationCollector();
    const data = { number: '4242424242424241', expiration_month: 99, cvc: '12345', '5105105105105100': true };
    TOKEN_TYPES.card.validate(data, 'data', violations);
    expect(() => violations.throwIfAny())
      .to.throw()
      .with.deep.property('violations', {
        'data.number': ['must be a valid card number (Luhn check)'],
        'data.expiration_month': ['must be an integer from 1 to 12'],
        'data.cvc': ['must be 3 or 4 digits'],
        data: ['must have no members but number, expiration_month, expiration_year, cvc'],
      });
  });

  it('name the one value that identifies a token', () => {
    expect(identifyingValue('card', { number: '1' })).to.equal('1');
    expect(identifyingValue('bank', { account_number: '2', routing_number: '3' })).to.equal('2');
    expect(identifyingValue('social_security_number', '4')).to.equal('4');
    expect(identifyingValue('token', '5')).to.equal(undefined);
  });

  it('part a card from its verification code', () => {
    const card = { number: '1', cvc: '987' };
    expect(splitCvc('card', card)).to.deep.equal({ data: { number: '1' }, cvc: '987' });
    expect(card).to.have.property('cvc');
    for (const [type, data] of [
      ['card', { number: '1', cvc: null }],
      ['token', card],
      ['card', 'text'],
    ] as const) {
      expect(splitCvc(type, data)).to.deep.equal({ data, cvc: null });
    }
  });
});

describe('enrichments', () => {
  for (const [number, bin, brand] of [
    ['4242424242424242', '42424242', 'visa'],
    ['5555555555554444', '55555555', 'mastercard'],
    ['378282246310005', '378282', 'american-express'],
    ['4222222222222', '422222', 'visa'],
  ] as const) {
    it(`of ${bin}… name the brand ${brand}, and at most the BIN and four digits`, () => {
      const expected = { card_details: { bin, last4: number.slice(-4) }, bin_details: { card_brand: brand } };
      expect(enrichmentsOf('card', { number })).to.deep.equal(expected);
      expect(enrichmentsOf('card_number', number)).to.deep.equal(expected);
    });
  }

  it('are there for cards only', () => {
    expect(enrichmentsOf('token', { number: '4242424242424242' })).to.equal(undefined);
    expect(enrichmentsOf('us_bank_account_number', '4242424242424242')).to.equal(undefined);
  });
});

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  digestOfKey,
  generateApplicationKey,
  generateSessionKey,
  isPlausibleApplicationKey,
  isSessionKey,
} from '../../../src/domain/application-keys.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('application keys', () => {
  const key = generateApplicationKey('production', 'private');

  for (const [tenant, application, prefix] of [
    ['production', 'private', 'key_prod_pvt_'],
    ['production', 'public', 'key_prod_pub_'],
    ['production', 'management', 'key_prod_mgt_'],
    ['test', 'private', 'key_test_pvt_'],
  ] as const) {
    it(`begin with ${prefix} for a ${application} application of a ${tenant} tenant`, () => {
      const made = generateApplicationKey(tenant, application);
      expect(made).to.match(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
      expect(isPlausibleApplicationKey(made)).to.equal(true);
    });
  }

  it('of sessions say so, and no others are taken for them', () => {
    const made = generateSessionKey('test');
    expect(made).to.match(/^key_test_ses_[0-9A-Za-z]{49}$/);
    expect(isPlausibleApplicationKey(made)).to.equal(true);
    expect(isSessionKey(made)).to.equal(true);
    for (const other of [key, key.replace('_pvt_', '_ses_').slice(0, -1), 'legacy_key_of_ses_sions']) {
      expect(isSessionKey(other), other.slice(0, 13)).to.equal(false);
    }
  });

  it('are never made twice', () => {
    const keys = Array.from({ length: 100 }, () => generateApplicationKey('production', 'private'));
    expect(new Set(keys)).to.have.property('size', 100);
  });

  for (const [whose, make] of [
    ['applications', () => generateApplicationKey('production', 'private')],
    ['sessions', () => generateSessionKey('production')],
  ] as const) {
    it(`of ${whose} hold 256 bits, each of them by chance`, () => {
      const count = 2_000;
      const set = Array<number>(256).fill(0);
      for (let index = 0; index < count; index++) {
        const secret = [...make().slice('key_prod_pvt_'.length, -6)];
        const value = secret.reduce((sum, character) => sum * 62n + BigInt(BASE62.indexOf(character)), 0n);
        expect(value < 2n ** 256n).to.equal(true);
        for (let bit = 0; bit < 256; bit++) set[bit]! += Number((value >> BigInt(bit)) & 1n);
      }
      // Ten standard deviations to either side of one half.
      const most = 10 * Math.sqrt(count / 4);
      for (const ones of set) expect(Math.abs(ones - count / 2)).to.be.below(most);
    });
  }

  it('are refused where any one character was altered', () => {
    for (let index = 'key_prod_pvt_'.length; index < key.length; index++) {
      const altered = `${key.slice(0, index)}${key[index] === 'a' ? 'b' : 'a'}${key.slice(index + 1)}`;
      expect(isPlausibleApplicationKey(altered), `altered at ${index}`).to.equal(false);
    }
  });

  it('are refused where the prefix of another application type took the place of their own', () => {
    expect(isPlausibleApplicationKey(key.replace('_pvt_', '_mgt_'))).to.equal(false);
  });

  for (const [what, malformed] of [
    ['cut short', key.slice(0, -1)],
    ['too long', `${key}0`],
    ['of an unknown application type', key.replace('_pvt_', '_xyz_')],
    ['with a space around it', ` ${key}`],
  ] as const) {
    it(`are refused ${what}`, () => {
      expect(isPlausibleApplicationKey(malformed)).to.equal(false);
    });
  }

  it('may be legacy keys, which name no environment', () => {
    expect(isPlausibleApplicationKey('key_NfdSHP8hjEfBYgxMU2wqZ9')).to.equal(true);
  });

  for (const junk of [
    '',
    'short',
    'a b c d e f g h i j k l',
    'x'.repeat(257),
    'sixteen\ncharacter',
    'ключ-ключ-ключ-ключ',
  ]) {
    it(`are refused as legacy ones where they are ${JSON.stringify(junk.slice(0, 24))}`, () => {
      expect(isPlausibleApplicationKey(junk)).to.equal(false);
    });
  }

  it('are stored as SHA-256', () => {
    expect(digestOfKey(key)).to.equal(createHash('sha256').update(key).digest('hex'));
  });
});

import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { keyIdOf, openEnvelope, SealBroken, sealEnvelope, type SealedPlace } from '../../../src/keys/envelope.ts';
import { lengthPrefixed } from '../../../src/keys/length-prefixed.ts';
import { type DataKey, idBytes, takeKey } from '../../../src/keys/unwrapped-keys.ts';

const place: SealedPlace = { tenantId: randomUUID(), table: 'tokens', rowId: 'card-1', column: 'data', version: '1' };
/** A value as its row has it. */
const found = (sealed: Buffer, at = place, format = SEALED_FORMAT) => ({ place: at, format, sealed });

/** As the program did before there was a second format. */
function sealFirstFormat({ id, key }: DataKey, { tenantId, table, rowId, column }: SealedPlace, text: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(lengthPrefixed(Buffer.of(1), tenantId, table, rowId, column, id));
  return Buffer.concat([Buffer.of(1), id, nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}
const newKey = () => takeKey(randomUUID(), randomBytes(32));

describe('the envelope of a sealed value', () => {
  const dataKey = newKey();

  for (const [name, plaintext] of [
    ['text', 'a secret, ünïcode and all'],
    ['nothing', ''],
    ['bytes', randomBytes(1000)],
  ] as const) {
    it(`opens to what was sealed: ${name}`, () => {
      const sealed = sealEnvelope(dataKey, place, plaintext);
      expect(openEnvelope(dataKey, found(sealed))).to.deep.equal(Buffer.from(plaintext));
    });
  }

  it('names its data key', () => {
    expect(keyIdOf(found(sealEnvelope(dataKey, place, 'x')))).to.deep.equal(dataKey.id);
  });

  it('holds no plaintext', () => {
    expect(sealEnvelope(dataKey, place, '4242424242424242').includes('4242')).to.equal(false);
  });

  it('is refused with any single bit changed', () => {
    const sealed = sealEnvelope(dataKey, place, '4242424242424242');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      // A changed key id leads to another key, or to none.
      const named = () => ({ key: dataKey.key, id: keyIdOf(found(altered)) });
      expect(() => openEnvelope(named(), found(altered)), `bit ${bit}`).to.throw(SealBroken);
    }
  });

  it('is refused cut short at any length', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    for (let length = 0; length < sealed.length; length++) {
      const cut = sealed.subarray(0, length);
      const open = () => openEnvelope({ key: dataKey.key, id: keyIdOf(found(cut)) }, found(cut));
      expect(open, `${length}`).to.throw(SealBroken);
    }
  });

  for (const [name, other] of Object.entries({
    tenant: { ...place, tenantId: randomUUID() },
    table: { ...place, table: 'reactors' },
    row: { ...place, rowId: 'card-2' },
    column: { ...place, column: 'mask' },
    version: { ...place, version: '2' },
    'shifted boundary': { ...place, table: 'token', rowId: 'scard-1' },
  })) {
    it(`is refused in another place: ${name}`, () => {
      const sealed = sealEnvelope(dataKey, place, '4242');
      expect(() => openEnvelope(dataKey, found(sealed, other))).to.throw(SealBroken);
    });
  }

  it('is refused with bytes added, wherever they are', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    for (let at = 0; at <= sealed.length; at++) {
      const longer = Buffer.concat([sealed.subarray(0, at), Buffer.of(0), sealed.subarray(at)]);
      const open = () => openEnvelope({ key: dataKey.key, id: keyIdOf(found(longer)) }, found(longer));
      expect(open, `${at}`).to.throw(SealBroken);
    }
  });

  describe('of the first format, which binds no version', () => {
    const first = sealFirstFormat(dataKey, place, '4242');

    it('opens in a row of that format, whatever its version', () => {
      for (const version of ['1', '2']) {
        const value = found(first, { ...place, version }, 1);
        expect(keyIdOf(value)).to.deep.equal(dataKey.id);
        expect(openEnvelope(dataKey, value).toString()).to.equal('4242');
      }
    });

    it('is refused in another row of that format', () => {
      const value = found(first, { ...place, rowId: 'card-2' }, 1);
      expect(() => openEnvelope(dataKey, value)).to.throw(SealBroken);
    });

    it('is refused in a row that was written since, with its own first byte or another', () => {
      const disguised = Buffer.from(first);
      disguised[0] = SEALED_FORMAT;
      expect(() => keyIdOf(found(first))).to.throw(SealBroken);
      for (const sealed of [first, disguised]) {
        expect(() => openEnvelope(dataKey, found(sealed))).to.throw(SealBroken);
      }
    });

    it('does not stand in for a value of today, in a row that says so', () => {
      const sealed = sealEnvelope(dataKey, place, '4242');
      expect(() => keyIdOf(found(sealed, place, 1))).to.throw(SealBroken);
      expect(() => openEnvelope(dataKey, found(sealed, place, 1))).to.throw(SealBroken);
    });
  });

  it('is refused under another key', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    expect(() => openEnvelope({ ...newKey(), id: dataKey.id }, found(sealed))).to.throw(SealBroken);
  });

  it('says nothing of the value when it is refused', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    expect(() => openEnvelope(newKey(), found(sealed))).to.throw(SealBroken, /^a sealed value was altered/);
  });
});

describe('an unwrapped key', () => {
  it('leaves nothing in the buffer that it came in', () => {
    const plaintext = randomBytes(32);
    takeKey(randomUUID(), plaintext);
    expect(plaintext.equals(Buffer.alloc(32))).to.equal(true);
  });

  it('has the 16 bytes of its UUID as its id', () => {
    expect(idBytes('00112233-4455-6677-8899-aabbccddeeff').toString('hex')).to.equal(
      '00112233445566778899aabbccddeeff',
    );
  });
});

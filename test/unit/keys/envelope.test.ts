import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { keyIdOf, openEnvelope, SealBroken, sealEnvelope, type SealedPlace } from '../../../src/keys/envelope.ts';
import { idBytes, takeKey } from '../../../src/keys/unwrapped-keys.ts';

const place: SealedPlace = { tenantId: randomUUID(), table: 'tokens', rowId: 'card-1', column: 'data' };
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
      expect(openEnvelope(dataKey, place, sealed)).to.deep.equal(Buffer.from(plaintext));
    });
  }

  it('names its data key', () => {
    expect(keyIdOf(sealEnvelope(dataKey, place, 'x'))).to.deep.equal(dataKey.id);
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
      const named = () => ({ key: dataKey.key, id: keyIdOf(altered) });
      expect(() => openEnvelope(named(), place, altered), `bit ${bit}`).to.throw(SealBroken);
    }
  });

  it('is refused cut short at any length', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    for (let length = 0; length < sealed.length; length++) {
      const cut = sealed.subarray(0, length);
      expect(() => openEnvelope({ key: dataKey.key, id: keyIdOf(cut) }, place, cut), `${length}`).to.throw(SealBroken);
    }
  });

  for (const [name, other] of Object.entries({
    tenant: { ...place, tenantId: randomUUID() },
    table: { ...place, table: 'reactors' },
    row: { ...place, rowId: 'card-2' },
    column: { ...place, column: 'mask' },
    'shifted boundary': { ...place, table: 'token', rowId: 'scard-1' },
  })) {
    it(`is refused in another place: ${name}`, () => {
      const sealed = sealEnvelope(dataKey, place, '4242');
      expect(() => openEnvelope(dataKey, other, sealed)).to.throw(SealBroken);
    });
  }

  it('is refused under another key', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    expect(() => openEnvelope({ ...newKey(), id: dataKey.id }, place, sealed)).to.throw(SealBroken);
  });

  it('says nothing of the value when it is refused', () => {
    const sealed = sealEnvelope(dataKey, place, '4242');
    expect(() => openEnvelope(newKey(), place, sealed)).to.throw(SealBroken, /^a sealed value was altered/);
  });

  it('never uses a nonce twice', () => {
    const nonces = new Set<string>();
    for (let count = 0; count < 100_000; count++) {
      nonces.add(sealEnvelope(dataKey, place, '').toString('latin1', 17, 29));
    }
    expect(nonces.size).to.equal(100_000);
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

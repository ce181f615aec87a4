import { randomBytes, randomUUID, webcrypto } from 'node:crypto';
import { expect } from 'chai';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { sealEnvelope, type SealedPlace } from '../../../src/keys/envelope.ts';
import { takeKey } from '../../../src/keys/unwrapped-keys.ts';

const place: SealedPlace = { tenantId: randomUUID(), table: 'tokens', rowId: 'card-1', column: 'data', version: '7' };

/** Format, place, version and key id, each behind its length in 32 bits. */
function bindingOf(keyId: Buffer): Buffer {
  const { tenantId, table, rowId, column, version } = place;
  const parts = [
    Buffer.of(SEALED_FORMAT),
    ...[tenantId, table, rowId, column, version].map((part) => Buffer.from(part)),
  ];
  return Buffer.concat(
    [...parts, keyId].flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}

describe('the format of a sealed value', () => {
  it('is AES-256-GCM with a nonce of 96 bits and a tag of 128, as another implementation opens it', async () => {
    const bytes = randomBytes(32);
    const raw = new Uint8Array(bytes);
    const dataKey = takeKey(randomUUID(), bytes);
    const sealed = sealEnvelope(dataKey, place, 'a secret');

    expect(sealed[0]).to.equal(SEALED_FORMAT);
    expect(sealed.subarray(1, 17)).to.deep.equal(dataKey.id);
    expect(sealed).to.have.length(1 + 16 + 12 + 'a secret'.length + 16);
    const key = await webcrypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt']);
    const algorithm = {
      name: 'AES-GCM',
      iv: sealed.subarray(17, 29),
      additionalData: bindingOf(dataKey.id),
      tagLength: 128,
    };
    const opened = await webcrypto.subtle.decrypt(algorithm, key, sealed.subarray(29));
    expect(Buffer.from(opened).toString()).to.equal('a secret');
  });
});

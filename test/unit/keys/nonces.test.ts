import crypto, { randomBytes, randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { sealEnvelope } from '../../../src/keys/envelope.ts';
import { takeKey } from '../../../src/keys/unwrapped-keys.ts';

const SEALINGS = 1_000_000;
const KEYS = 4;
/** Twice what is put in, a power of two. */
const SLOTS = 2 ** 21;
/** Key id and nonce of an envelope, as 32-bit words. */
const WORDS = 7;
const KEY_ID_AT = 1;

/** A set of pairs of key and nonce, 28 bytes each: a million of them as texts would take hundreds of megabytes. */
function createPairs(): { add(sealed: Buffer): boolean } {
  const table = new Int32Array(SLOTS * WORDS);
  const taken = new Uint8Array(SLOTS);
  const pair = new Int32Array(WORDS);
  const isAt = (slot: number): boolean => pair.every((word, index) => table[slot * WORDS + index] === word);
  return {
    /** False where it is there already. */
    add(sealed) {
      for (let word = 0; word < WORDS; word++) pair[word] = sealed.readInt32LE(KEY_ID_AT + 4 * word);
      // The nonce is random, or it is what the test is to find.
      let slot = (pair[5]! ^ Math.imul(pair[6]!, 0x9e3779b1)) & (SLOTS - 1);
      for (; taken[slot] === 1; slot = (slot + 1) & (SLOTS - 1)) if (isAt(slot)) return false;
      taken[slot] = 1;
      table.set(pair, slot * WORDS);
      return true;
    },
  };
}

/** How many of so many sealings, over several keys, have the key and the nonce of an earlier one. */
function repeatedPairs(sealings: number): number {
  const dataKeys = Array.from({ length: KEYS }, () => takeKey(randomUUID(), randomBytes(32)));
  const place = { tenantId: randomUUID(), table: 'tokens', rowId: 'card', column: 'data', version: '1' };
  const pairs = createPairs();
  let repeated = 0;
  for (let count = 0; count < sealings; count++) {
    if (!pairs.add(sealEnvelope(dataKeys[count % KEYS]!, place, ''))) repeated++;
  }
  return repeated;
}

/** Puts another source in the place of node:crypto's, for every module that has imported it. */
function withRandomSource(source: typeof crypto.randomBytes, work: () => void): void {
  const real = crypto.randomBytes;
  crypto.randomBytes = source;
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    crypto.randomBytes = real;
    syncBuiltinESMExports();
  }
}

describe('nonces', function () {
  this.timeout(300_000);

  it(`never come twice with one key in ${SEALINGS.toLocaleString('en')} sealings over ${KEYS} keys`, () => {
    expect(repeatedPairs(SEALINGS)).to.equal(0);
  });

  it('are seen to come twice where the random source is bad', () => {
    const real = crypto.randomBytes;
    // Sixteen random bits in the place of ninety-six.
    const weak = (size: number): Buffer => Buffer.concat([Buffer.alloc(size - 2), real(2)]);
    withRandomSource(weak as typeof crypto.randomBytes, () => expect(repeatedPairs(20_000)).to.be.above(100));
  });
});

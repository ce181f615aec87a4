import { createHmac, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { DomainError } from '../../../src/domain/errors.ts';
import type { KeyedHasher } from '../../../src/keys/keyed-hashes.ts';
import { createCursors, cutPage } from '../../../src/services/cursors.ts';

/** Keys by tenant, as the real one has, without a store. */
const hash = (...parts: string[]) =>
  Promise.resolve(createHmac('sha256', 'key').update(JSON.stringify(parts)).digest());
const hasher: KeyedHasher = { fingerprint: hash, searchHash: hash };

async function refusal(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
}

describe('cursors', () => {
  const cursors = createCursors(hasher);
  const tenantId = randomUUID();
  const position = { createdAt: new Date(1_900_000_000_123), id: 'Ünïcödé "id"' };

  it('give back the position that they were made of, in characters that a URL takes', async () => {
    const positions = fc.record({
      createdAt: fc.date({ noInvalidDate: true }),
      id: fc.string({ unit: 'grapheme', minLength: 3, maxLength: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(positions, async (given) => {
        const cursor = await cursors.encode(tenantId, 'tokens', given);
        expect(cursor).to.match(/^[\w-]+$/);
        expect(await cursors.decode(tenantId, 'tokens', cursor)).to.deep.equal(given);
      }),
    );
  });

  it('are refused with any character changed, cut or added', async () => {
    const cursor = await cursors.encode(tenantId, 'tokens', position);
    const altered = [...cursor].map(
      (character, index) => cursor.slice(0, index) + (character === 'A' ? 'B' : 'A') + cursor.slice(index + 1),
    );
    for (const text of [
      ...altered,
      '',
      'A',
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor} `,
    ]) {
      const error = await refusal(cursors.decode(tenantId, 'tokens', text));
      expect(error, text)
        .to.be.instanceOf(DomainError)
        .with.deep.property('violations', {
          start: ['must be a cursor from pagination.next of this list'],
        });
    }
  });

  it('are refused by another tenant and another list', async () => {
    const cursor = await cursors.encode(tenantId, 'tokens', position);
    expect(await refusal(cursors.decode(randomUUID(), 'tokens', cursor))).to.be.instanceOf(DomainError);
    expect(await refusal(cursors.decode(tenantId, 'logs', cursor))).to.be.instanceOf(DomainError);
  });
});

describe('pages', () => {
  it('end where the list does, or before the item that was read too many', () => {
    expect(cutPage([], 2)).to.deep.equal({ items: [], last: undefined });
    expect(cutPage([1, 2], 2)).to.deep.equal({ items: [1, 2], last: undefined });
    expect(cutPage([1, 2, 3], 2)).to.deep.equal({ items: [1, 2], last: 2 });
  });
});

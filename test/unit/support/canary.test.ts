import { expect } from 'chai';
import { createCanaryScanner, encodingsOf, randomCardNumber, randomSecret } from '../../support/canary.ts';

describe('canaries', () => {
  it('are found in every encoding, wherever they begin', () => {
    const canaries = { secret: randomSecret(), card: randomCardNumber(), accented: 'käse-geheim-çà' };
    const scanner = createCanaryScanner(canaries);
    for (const [canary, value] of Object.entries(canaries)) {
      for (const offset of [0, 1, 2, 3, 4]) {
        const lead = 'x'.repeat(offset);
        const base64 = Buffer.from(`${lead}${value}yz`).toString('base64');
        const texts: [string, Buffer][] = [
          [`base64, phase ${offset % 3}`, Buffer.from(base64)],
          [`base64, phase ${offset % 3}`, Buffer.from(Buffer.from(base64, 'base64').toString('base64url'))],
          ['utf-8', Buffer.from(`${lead}${value}\0`)],
          ['utf-16le', Buffer.from(lead + value, 'utf16le')],
          ['hex', Buffer.from(lead + Buffer.from(value).toString('hex'))],
          ['hex, upper case', Buffer.from(lead + Buffer.from(value).toString('hex').toUpperCase())],
          ['reversed', Buffer.from(lead + [...value].reverse().join(''))],
        ];
        for (const [encoding, text] of texts) {
          expect(scanner.scan('text', text), encoding).to.deep.include({ canary, encoding, place: 'text' });
        }
      }
      expect(scanner.scan('text', value.slice(0, -1))).to.deep.equal([]);
    }
    expect(encodingsOf('canary').map(({ encoding }) => encoding)).to.have.length(8);
  });
});

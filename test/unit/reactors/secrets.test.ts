import { expect } from 'chai';
import { RequestSecrets } from '../../../src/reactors/host/secrets.ts';

const SECRET = 'Kf9 "quoted"\n/é+';

function secretsOf(...values: (string | number | object)[]): RequestSecrets {
  const secrets = new RequestSecrets();
  for (const value of values) secrets.add(() => value as never, 0);
  return secrets;
}

describe('what a reactor prints, without the plaintext of its request', () => {
  const bytes = Buffer.from(SECRET);
  for (const [form, text] of Object.entries({
    plain: SECRET,
    'a JSON text': JSON.stringify({ secret: SECRET }),
    base64: bytes.toString('base64'),
    'base64 for URLs': bytes.toString('base64url'),
    'base64 of more, one byte further': Buffer.from(`u${SECRET}`).toString('base64'),
    'base64 of more, two bytes further': Buffer.from(`us${SECRET}:x`).toString('base64'),
    'the credentials of basic authentication': `Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`,
    hex: bytes.toString('hex'),
    'a URL': `https://a.example/?q=${encodeURIComponent(SECRET)}`,
    'a form': new URLSearchParams({ q: SECRET }).toString(),
  })) {
    it(`removes a text from ${form}`, () => {
      const line = secretsOf({ deep: [{ SECRET }] }).redact(`before ${text} after`)!;
      expect(line).to.match(/^before .*\[redacted\].* after$/s);
      for (const part of ['Kf9', 'quoted', bytes.toString('base64').slice(4, 12), bytes.toString('hex').slice(0, 12)]) {
        expect(line).not.to.contain(part);
      }
    });
  }

  const NAME = 'Zoë Ångström';
  for (const [what, secret, line] of [
    ['composed', NAME.normalize('NFD'), NAME.normalize('NFC')],
    ['decomposed', NAME.normalize('NFC'), NAME.normalize('NFD')],
    ['composed in part', NAME, NAME.replace('ë', 'e\u0308')],
    ['in compatible letters', 'Ｚoë ﬁne ①②③④', 'Zoë fine 1234'],
    ['in other compatible letters', 'Zoe fine 1234', 'Ｚoe ﬁne ①②③④'],
    ['decomposed, in hex', NAME, Buffer.from(NAME.normalize('NFD')).toString('hex')],
    ['decomposed, in base64', NAME, Buffer.from(NAME.normalize('NFD')).toString('base64')],
    ['decomposed, in a URL', NAME, encodeURIComponent(NAME.normalize('NFD'))],
    ['in a URL with small letters', NAME, encodeURIComponent(NAME).toLowerCase().replace('z', 'Z')],
    ['in a URL that escapes everything', 'tell', '%74%65%6c%6C'],
    ['in a form that escapes everything', 'a (b) c', 'a+%28b%29+c'],
    [
      'in JSON that is ASCII',
      NAME,
      JSON.stringify(NAME).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ],
    ['in JSON within JSON', 'a "b" \n c', JSON.stringify(JSON.stringify('a "b" \n c'))],
    ['as it is inspected', `it's "so" \n`, String.raw`'it\'s "so" \n'`],
  ] as const) {
    it(`removes a text that is printed ${what}`, () => {
      const clean = secretsOf({ secret }).redact(`before ${line} after`)!;
      expect(clean).to.match(/^before .*\[redacted\].* after$/);
      expect(clean.replace('[redacted]', '').replace(/^before|after$|[\s"'\\=]/g, '')).to.equal('');
    });
  }

  it('removes a card number in digits of another script’s width', () => {
    expect(secretsOf({}).redact('card ４２４２４２４２４２４２４２４２.')).to.equal('card [redacted].');
  });

  it('leaves a line as it was written where it has nothing of the request, in whatever form', () => {
    const secrets = secretsOf({ name: NAME });
    for (const line of ['½ … ﬁne', 'a%20b%zz', String.raw`C:\new \u00e9 \x`, 'e\u0301']) {
      expect(secrets.redact(line)).to.equal(line);
    }
  });

  it('removes the names of members that are values, and lets names that programs have stand', () => {
    const secrets = secretsOf({
      deep: [{ 'ada@example.com': 1, '4242000': 2, 'Ada Lovelace': 3, DE021203: 4, billing_address: 5, sha256: 6 }],
      'a-rather-long-name-that-no-program-would-give': 7,
    });
    expect(
      secrets.redact(
        'ada@example.com 4242000 Ada Lovelace DE021203 billing_address sha256 deep ' +
          'a-rather-long-name-that-no-program-would-give',
      ),
    ).to.equal('[redacted] [redacted] [redacted] [redacted] billing_address sha256 deep [redacted]');
  });

  it('leaves a line alone that has nothing of the request', () => {
    expect(secretsOf({ name: 'Ada Lovelace' }).redact('charged 3 times')).to.equal('charged 3 times');
  });

  it('takes the longest of the texts that begin at a place', () => {
    expect(secretsOf('card', 'card-number-1', 'number').redact('a card-number-1 b')).to.equal('a [redacted] b');
  });

  it('removes numbers, and the values of a JSON text that is a value itself', () => {
    const secrets = secretsOf({ account: 12345678, data: JSON.stringify({ iban: 'DE021203' }) });
    expect(secrets.redact('12345678 DE021203')).to.equal('[redacted] [redacted]');
  });

  it('lets texts of up to three characters and the names of members stand', () => {
    expect(secretsOf({ currency: 'EUR' }).redact('currency EUR')).to.equal('currency EUR');
  });

  it('removes the code of a card where it stands by itself, and other numbers of three digits not', () => {
    const secrets = secretsOf({ card: { cvc: '987' } });
    expect(secrets.redact('987 {"cvc":"987"} 987, 9870 x987 status 200')).to.equal(
      '[redacted] {"cvc":"[redacted]"} [redacted], 9870 x987 status 200',
    );
  });

  for (const number of ['4242424242424242', '4242 4242 4242 4242', '3782-822463-10005', '6304000000000000000']) {
    it(`removes the card number ${number}, whoever knows it`, () => {
      expect(secretsOf({}).redact(`card ${number}.`)).to.equal('card [redacted].');
    });
  }

  it('removes what may be the beginning of a text at the end of a line that was cut', () => {
    const secrets = secretsOf('a-long-secret-of-the-request');
    expect(secrets.redact('it is a-long-sec', true)).to.equal('it is [redacted]');
    expect(secrets.redact('number 42424242', true)).to.equal('number [redacted]');
  });

  it('shows nothing where there is too much to look for', () => {
    expect(secretsOf('x'.repeat(3 * 1024 * 1024)).redact('anything')).to.equal(undefined);
  });

  it('shows nothing where more came before the first line than may be kept until then', () => {
    const secrets = new RequestSecrets();
    for (let call = 0; call < 5; call += 1) secrets.add(() => 'short', 2 ** 20);
    expect(secrets.redact('anything')).to.equal(undefined);
  });

  it('shows nothing where there are too many values, and counts one that is repeated once', () => {
    const many = Array.from({ length: 20_001 }, (_, at) => `value-${at}`);
    expect(secretsOf(many).redact('anything')).to.equal(undefined);
    expect(secretsOf(many.map(() => 'value-1')).redact('anything value-1')).to.equal('anything [redacted]');
  });

  it('removes what may be the beginning of an escaped text at the end of a line that was cut', () => {
    const secrets = secretsOf('caffè au lait', 'x\u0001yz-and-more');
    for (const end of ['caff', 'caff%', 'caff%c', 'caff%c3', 'caff%c3%a', String.raw`caff\u00e`, String.raw`x\x01yz`]) {
      expect(secrets.redact(`it is 12 ${end}`, true), end).to.equal('it is 12 [redacted]');
    }
    expect(secrets.redact('it is 12 %', true)).to.equal('it is 12 %');
  });

  it('gives up on data that is made to be slow to look for', () => {
    const texts = Array.from({ length: 1_400 }, (_, at) => 'a'.repeat(at + 4) + 'b');
    const secrets = secretsOf(texts);
    for (let line = 0; line < 100; line += 1) secrets.redact('a'.repeat(4096));
    expect(secrets.redact('a'.repeat(4096))).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { createRedaction } from '../../../../src/cli/kubectl/report/redaction.ts';

describe('redaction of a report', () => {
  const redaction = createRedaction();
  redaction.learn([
    {
      metadata: { name: 'payments' },
      spec: { displayName: 'payments', note: 'short', code: 'return "s3cr3t-value-1";' },
    },
  ]);

  it('shows equal texts as equal, within one report alone', () => {
    const [first] = redaction.objects([{ a: 'same', b: 'same', c: 'other' }]) as [Record<string, string>];
    expect(first['a'])
      .to.equal(first['b'])
      .and.match(/^redacted:[a-z]{10}:4$/);
    expect(first['c']).to.not.equal(first['a']);
    const [second] = createRedaction().objects([{ a: 'same' }]) as [Record<string, string>];
    expect(second['a']).to.not.equal(first['a']);
  });

  it('keeps numbers and states, but no number as long as that of a card', () => {
    const object = { kind: 'Reactor', spec: { priority: 7, big: 4242424242424242, on: true, none: null } };
    const [shown] = redaction.objects([object]) as [typeof object];
    expect(shown).to.deep.include({ kind: 'Reactor' });
    expect(shown.spec).to.include({ priority: 7, on: true, none: null });
    expect(shown.spec.big).to.match(/^redacted:/);
  });

  const replaced: Record<string, string> = {
    'a number of a card': '4242424242424242',
    'the same in groups': '4242 4242 4242 4242',
    'the same with hyphens': '4242-4242-4242-4242',
    'a key of an application': 'key_prod_us_pvt_1234567890abcdef',
    'a signed token': 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl',
    'a private key': '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----',
    'what stands in a field elsewhere': 'return "s3cr3t-value-1";',
    'a credential out of that': 's3cr3t-value-1',
    'the same in JSON': 'return \\"s3cr3t-value-1\\";',
  };
  for (const [what, secret] of Object.entries(replaced)) {
    it(`replaces ${what} in a text`, () => {
      expect(redaction.text(`before ${secret} after`)).to.match(/^before \S*redacted:[a-z]{10}:\d+\S* after$/);
    });
  }

  for (const user of [
    'api:hunter2',
    'api:p@ssw0rd',
    'api:pa/ss',
    'api:pa"ss',
    'api:pa?s#s',
    ':only-a-password',
    'ghp_abcdefghijklmnop',
    'x:',
    's3cr3t-value-1@more',
  ]) {
    it(`replaces ${user} before the host of a URL`, () => {
      const url = `postgres://${user}@db:5432/vault`;
      const shown = /postgres:\/\/redacted:[a-p]{10}:\d+@db:5432\/vault/;
      expect(redaction.text(`cannot reach ${url}, again`)).to.match(
        new RegExp(`^cannot reach ${shown.source}, again$`),
      );
      const { said, to } = JSON.parse(redaction.text(JSON.stringify({ said: url, to: 'a@b' }))) as Record<
        string,
        string
      >;
      expect(said).to.match(new RegExp(`^${shown.source}$`));
      expect(to).to.equal('a@b');
    });
  }

  /** Each with the part of it that nobody may see. */
  const credentials: readonly [text: string, secret: string][] = [
    ['hvs.CAESIJ2cabcdefgh', 'CAESIJ2cabcdefgh'],
    ['hvb.AAAAAQabcdefgh', 'AAAAAQabcdefgh'],
    ['s.4Vp1Xo0Jb7xQe9mZk2Rt6YwU', '4Vp1Xo0Jb7xQe9mZk2Rt6YwU'],
    ['Authorization: Bearer abc.def/1+2=', 'abc.def'],
    ['authorization: Basic YXBpOmh1bnRlcg==', 'YXBpOmh1bnRlcg'],
    ['{"Authorization":"Basic YXBpOmh1bnRlcg=="}', 'YXBpOmh1bnRlcg'],
    ['bearer abcdef', 'abcdef'],
    ['password=topsecret99', 'topsecret99'],
    ['PGPASSWORD=hunter', 'hunter'],
    ["host=db password='hunter' user=x", 'hunter'],
    ['password="correct horse" user=x', 'horse'],
    ['{"password":"correct horse","user":"x"}', 'horse'],
    ['"{\\"password\\":\\"correct horse\\",\\"user\\":1}"', 'horse'],
    ['"password=ab\\"cd"', 'cd'],
    ['password: hunter', 'hunter'],
    ['?token=abc123&x=1', 'abc123'],
    ['VAULT_TOKEN=abc123', 'abc123'],
    ['client_secret=abc123', 'abc123'],
    ['api-key=abc123', 'abc123'],
    ['token = abc123', 'abc123'],
    ['secret_id=5e9d2a64-0000-4000-8000-000000000001', '5e9d2a64'],
    ['password=s3cr3t-value-1', 's3cr3t-value-1'],
  ];
  for (const [text, secret] of credentials) {
    it(`replaces the secret of ${text}`, () => {
      const shown = redaction.text(`before ${text} after`);
      expect(shown)
        .to.match(/^before .*redacted:[a-p]{10}:\d+.* after$/)
        .and.not.include(secret);
      if (/^[{"]/.test(text)) JSON.parse(redaction.text(text));
    });
  }

  it('shows what it knows by the same digest also where it looks like a credential', () => {
    const [{ note }] = redaction.objects([{ note: 's3cr3t-value-1' }]) as [{ note: string }];
    expect(redaction.text('password=s3cr3t-value-1')).to.equal(`password=${note}`);
    expect(redaction.text('https://s3cr3t-value-1/x')).to.equal(`https://${note}/x`);
  });

  for (const harmless of [
    '5e9d2a64-0000-4000-8000-000000000001',
    '2026-11-22T07:48:12.984123456Z',
    'payments is not short of 12345678901 instances',
    'the application may token:read, its tokens are 12, its Secret "x" is not found',
    '{"url":"https://api.example/x","mail":"a@b"} https://a.example a@b',
  ]) {
    it(`leaves ${harmless}`, () => expect(redaction.text(harmless)).to.equal(harmless));
  }
});

/**
 * An encrypted private key (RFC 5958 with PBES2 of RFC 8018) whose password takes `rounds` of PBKDF2 to try: two
 * thousand million, the most that there are, keep a core busy for minutes. It holds no key: none is ever got out of it.
 */
export function slowKey(rounds: number): string {
  const derivation = sequence(PBKDF2, sequence(der(OCTETS, Buffer.alloc(16)), integer(rounds), HMAC_SHA256));
  const cipher = sequence(AES_256_CBC, der(OCTETS, Buffer.alloc(16)));
  const key = sequence(sequence(PBES2, sequence(derivation, cipher)), der(OCTETS, Buffer.alloc(128)));
  const lines = key.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${lines}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
}

const [INTEGER, OCTETS, NULL, OBJECT, SEQUENCE] = [0x02, 0x04, 0x05, 0x06, 0x30];
const PBES2 = der(OBJECT, Buffer.from('2a864886f70d01050d', 'hex'));
const PBKDF2 = der(OBJECT, Buffer.from('2a864886f70d01050c', 'hex'));
const AES_256_CBC = der(OBJECT, Buffer.from('60864801650304012a', 'hex'));
const HMAC_SHA256 = sequence(der(OBJECT, Buffer.from('2a864886f70d0209', 'hex')), der(NULL));

/** In as few bytes as hold it and its sign. */
function integer(value: number): Buffer {
  const hex = value.toString(16);
  return der(INTEGER, Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0').replace(/^[89a-f]/, '00$&'), 'hex'));
}

function sequence(...members: Buffer[]): Buffer {
  return der(SEQUENCE, ...members);
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const { length } = Buffer.concat(contents);
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), ...contents]);
}

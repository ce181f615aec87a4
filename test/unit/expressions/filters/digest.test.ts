import { gives, refuses } from './examples.ts';

// RFC 4231, test case 2.
const jefe = 'what do ya want for nothing?';

describe('hmac, to_base64, to_base16', () => {
  gives([
    ["hmac: 'sha-256', 'Jefe'", jefe, '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      "hmac: 'sha-512', 'Jefe'",
      jefe,
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    ],
    ["hmac: 'sha-256', 'Jefe' | to_base64", jefe, 'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM='],
    ["hmac: 'sha-256', 'Jefe' | to_base16 | last4", jefe, '3843'],
    ["hmac: 'sha-256', 'Jefe' | upcase | slice: 0, 4", jefe, '5BDC'],
    ['to_base64', 'é', 'w6k='],
    ['to_base16', 'é', 'c3a9'],
    ['to_base16', null, null],
  ]);
  refuses([
    ["hmac: 'md5', 'k'", 'a', 'filter hmac: algorithm must be one of sha-256, sha-512'],
    ["hmac: 'sha-256'", 'a', 'filter hmac: needs the argument key'],
    ["hmac: 'sha-256', ''", 'a', 'filter hmac: key must be text, not empty'],
    ['to_base64', [1], 'filter to_base64: takes text or a number'],
  ]);
});

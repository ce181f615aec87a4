import { createHmac } from 'node:crypto';
import { defineByteFilter, defineTextFilter, Digest } from './filter.ts';
import { oneOf, text } from './parameters.ts';

/** HMAC (RFC 2104) of the text's UTF-8 bytes; lower-case hex unless an encoding follows. */
export const hmac = defineTextFilter(
  [oneOf('algorithm', ['sha-256', 'sha-512']), text('key')],
  (value, [algorithm, key]) => new Digest(createHmac(algorithm.replace('-', ''), key).update(value, 'utf8').digest()),
);

export const to_base64 = defineByteFilter((bytes) => bytes.toString('base64'));

/** Lower-case hex. */
export const to_base16 = defineByteFilter((bytes) => bytes.toString('hex'));

import { ExpressionFault } from '../fault.ts';
import { defineTextFilter } from './filter.ts';

/** Base64 of the text's UTF-8 bytes in the alphabet of URLs (RFC 4648, section 5), padded, as Liquid pads it. */
export const base64_url_safe_encode = defineTextFilter([], (text) =>
  Buffer.from(text, 'utf8').toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
);

const BASE64_URL = /^(?:[\w-]{4})*(?:[\w-]{2}(?:==)?|[\w-]{3}=?)?$/;

/** The text whose UTF-8 bytes were encoded, with or without padding. */
export const base64_url_safe_decode = defineTextFilter([], (text) => {
  if (!BASE64_URL.test(text)) throw new ExpressionFault('takes Base64 in the alphabet of URLs');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'base64url'));
  } catch {
    throw new ExpressionFault('takes the Base64 of text alone');
  }
});

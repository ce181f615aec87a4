import { gunzipSync, gzipSync } from 'node:zlib';

/** Of a text that is unpacked, in bytes: more is not what this program has packed. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** No text in UTF-8 begins so. */
const GZIP = Buffer.of(0x1f, 0x8b);

/** A text in UTF-8, as it is up to `plainBytes` and by gzip beyond, for places that hold no more. */
export function packText(text: string, plainBytes: number): Buffer {
  const plain = Buffer.from(text);
  return plain.length <= plainBytes ? plain : gzipSync(plain);
}

/** The text again, however it was packed. Throws for gzip that is damaged, or of too much. */
export function unpackText(packed: Buffer): string {
  const isPlain = !packed.subarray(0, GZIP.length).equals(GZIP);
  return (isPlain ? packed : gunzipSync(packed, { maxOutputLength: MAX_TEXT_BYTES })).toString('utf8');
}

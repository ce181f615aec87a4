import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { EgressError } from './errors.ts';
import { tooLarge } from './hop.ts';
import type { HopAnswer } from './hop.ts';

const DECOMPRESS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** No longer true of what is given back. */
const OF_COMPRESSED = new Set(['content-encoding', 'content-length']);

/**
 * An answer with its content as it is. None is asked to be compressed, but some servers do it all the same. Never makes
 * more than `maxBytes` of it: throws 'too-large', or 'answer' where it is not what it says.
 */
export async function decompressed(answer: HopAnswer, maxBytes: number, name: string): Promise<HopAnswer> {
  const codings = answer.headers.filter(([header]) => header === 'content-encoding').map(([, value]) => value.trim());
  const coding = codings.join(',').toLowerCase();
  if (coding === '' || coding === 'identity' || answer.body.length === 0) return answer;
  if (!Object.hasOwn(DECOMPRESS, coding)) {
    throw new EgressError('answer', `${name} answered in an encoding that was not asked for`, true);
  }
  try {
    const body = await DECOMPRESS[coding as keyof typeof DECOMPRESS](answer.body, { maxOutputLength: maxBytes });
    return { ...answer, body, headers: answer.headers.filter(([header]) => !OF_COMPRESSED.has(header)) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(name, maxBytes);
    }
    throw new EgressError('answer', `${name} answered in an encoding that it does not keep to`, true);
  }
}

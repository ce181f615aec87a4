import type { ReferentEntries } from './types.ts';

// With the mark at its beginning, if any, as part of the text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text that these bytes are in UTF-8; null where they are not text. */
export function entryText(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The entries that are text. */
export function textsIn(entries: ReferentEntries): Record<string, string> {
  const texts = Object.entries(entries).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries(texts);
}

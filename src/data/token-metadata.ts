/**
 * Metadata as it is compared: keys and values in lower case, as JSON text. Null where there is none, which keeps such
 * tokens out of the index.
 */
export function foldMetadata(metadata: Record<string, string>): string | null {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return null;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key.toLowerCase(), value.toLowerCase()])));
}

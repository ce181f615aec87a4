/**
 * Parts as bytes, each behind its length, so that no two different lists give the same bytes: `ab|c` is not `a|bc`.
 */
export function lengthPrefixed(...parts: readonly (string | Buffer)[]): Buffer {
  let size = 0;
  for (const part of parts) size += 4 + Buffer.byteLength(part);
  const bytes = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const part of parts) {
    const length = typeof part === 'string' ? bytes.write(part, offset + 4) : part.copy(bytes, offset + 4);
    bytes.writeUInt32BE(length, offset);
    offset += 4 + length;
  }
  return bytes;
}

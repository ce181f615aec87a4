/** A message of Protocol Buffers by the numbers of its fields, as it is on the wire: no schema is known. */
export type Message = ReadonlyMap<number, readonly (Buffer | bigint)[]>;

/** Reads what some encoder that is not ours wrote. Throws where it is no message. */
export function decodeMessage(bytes: Buffer): Message {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('a message ends in the middle of a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('a message ends in the middle of a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const value = valueOf(tag & 7);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;

  function valueOf(wireType: number): Buffer | bigint {
    if (wireType === 0) return varint();
    if (wireType === 1) return take(8).readBigUInt64LE();
    if (wireType === 2) return take(Number(varint()));
    if (wireType === 5) return BigInt(take(4).readUInt32LE());
    throw new Error(`no wire type of Protocol Buffers: ${wireType}`);
  }
}

/** All messages of a field that repeats. */
export function messagesAt(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => decodeMessage(value as Buffer));
}

export function textAt(message: Message, field: number, encoding: BufferEncoding = 'utf8'): string {
  const value = message.get(field)?.[0];
  return value === undefined ? '' : (value as Buffer).toString(encoding);
}

export function numberAt(message: Message, field: number): number {
  return Number(message.get(field)?.[0] ?? 0n);
}

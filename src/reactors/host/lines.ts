import type { Readable } from 'node:stream';

/** Calls `onLine` for each line of a stream; `onOverflow` once, and nothing more, after a line over `maxBytes`. */
export function readLines(
  stream: Readable,
  maxBytes: number,
  onLine: (line: string) => void,
  onOverflow: () => void,
): void {
  let parts: Buffer[] = [];
  let length = 0;
  let overflown = false;
  stream.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); !overflown && end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]);
      rest = rest.subarray(end + 1);
      parts = [];
      length = 0;
      if (line.length > 0) onLine(line.toString('utf8'));
    }
    length += rest.length;
    if (overflown) return;
    if (length > maxBytes) {
      overflown = true;
      parts = [];
      onOverflow();
    } else if (rest.length > 0) {
      parts.push(rest);
    }
  });
}

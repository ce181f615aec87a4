import { gzipSync } from 'node:zlib';

export interface ArchivedFile {
  readonly path: string;
  readonly content: string;
}

const BLOCK = 512;
const LONGEST_PATH = 100;

/** A .tar.gz of small text files, in the POSIX ustar format. */
export function renderArchive(files: readonly ArchivedFile[], now: Date): Buffer {
  const blocks = files.flatMap(({ path, content }) => {
    const bytes = Buffer.from(content);
    return [
      renderHeader(path.slice(-LONGEST_PATH), bytes.length, now),
      bytes,
      Buffer.alloc(-bytes.length & (BLOCK - 1)),
    ];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

function renderHeader(path: string, size: number, now: Date): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, offset: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset);
  };
  header.write(path, 0);
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(now.getTime() / 1000), 136, 12);
  // The sum is taken with spaces in its own place.
  header.write('        0', 148);
  header.write('ustar\u000000', 257);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return header;
}

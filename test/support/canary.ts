import { randomBytes, randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Values that must turn up nowhere, by what they stand for. */
export type Canaries = Readonly<Record<string, string>>;

/** Where one was found. */
export interface Sighting {
  canary: string;
  encoding: string;
  /** File or stream. */
  place: string;
}

/** Shorter ones turn up by chance in as many bytes as a database has. */
const MIN_LENGTH = 8;

/** Every form in which a value may have been written down, except ciphertext and hashes. */
export function encodingsOf(value: string): { encoding: string; bytes: Buffer }[] {
  const bytes = Buffer.from(value, 'utf8');
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((phase) => {
    const core = base64Core(bytes, phase);
    const urlSafe = core.replaceAll('+', '-').replaceAll('/', '_');
    return [...new Set([core, urlSafe])].map((text) => ({ encoding: `base64, phase ${phase}`, bytes: ascii(text) }));
  });
  return [
    { encoding: 'utf-8', bytes },
    { encoding: 'utf-16le', bytes: Buffer.from(value, 'utf16le') },
    { encoding: 'hex', bytes: ascii(hex) },
    { encoding: 'hex, upper case', bytes: ascii(hex.toUpperCase()) },
    { encoding: 'reversed', bytes: Buffer.from([...value].reverse().join(''), 'utf8') },
    ...base64,
  ];
}

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

/** The characters that stand for nothing but these bytes, where they begin `phase` bytes into a group of three. */
function base64Core(bytes: Buffer, phase: number): string {
  const text = Buffer.concat([Buffer.alloc(phase), bytes]).toString('base64');
  const shared = [0, 2, 3][phase]!;
  return text.slice(shared, Math.floor(((phase + bytes.length) * 8) / 6));
}

/** Bytes that are passed by at once, where every canary is longer: what fits a byte. */
const LONGEST_STEP = 64;

interface Pattern {
  canary: string;
  encoding: string;
  bytes: Buffer;
}

/** Looks for all canaries in all encodings at once. */
export interface CanaryScanner {
  scan(place: string, content: Buffer | string): Sighting[];
  /** All files below a folder, through links too; `skip` takes paths relative to it. */
  scanFolder(folder: string, skip?: (path: string) => boolean): Promise<{ sightings: Sighting[]; bytes: number }>;
}

export function createCanaryScanner(canaries: Canaries): CanaryScanner {
  const patterns: Pattern[] = [];
  for (const [canary, value] of Object.entries(canaries)) {
    if (value.length < MIN_LENGTH) throw new Error(`the canary ${canary} is too short to be told from chance`);
    patterns.push(...encodingsOf(value).map(({ encoding, bytes }) => ({ canary, encoding, bytes })));
  }
  // Wu and Manber's: by the last two bytes of a window as long as the shortest pattern, how far the window may move
  // without passing a pattern by. Most of a database is passed by in steps of several bytes.
  const last = patterns.reduce((least, { bytes }) => Math.min(least, bytes.length - 2), LONGEST_STEP);
  const shifts = new Uint8Array(2 ** 16).fill(last + 1);
  const byHead = new Map<number, Pattern[]>();
  for (const pattern of patterns) {
    for (let at = 0; at <= last; at++) {
      const block = pattern.bytes.readUInt16BE(at);
      shifts[block] = Math.min(shifts[block]!, last - at);
    }
    const head = pattern.bytes.readUInt32BE(0);
    byHead.set(head, [...(byHead.get(head) ?? []), pattern]);
  }

  function scan(place: string, content: Buffer | string): Sighting[] {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    const found = new Map<string, Sighting>();
    for (let at = last; at + 2 <= bytes.length;) {
      const shift = shifts[(bytes[at]! << 8) | bytes[at + 1]!]!;
      at += shift || 1;
      if (shift > 0) continue;
      const start = at - 1 - last;
      for (const pattern of byHead.get(bytes.readUInt32BE(start)) ?? []) {
        const { canary, encoding } = pattern;
        if (!bytes.subarray(start, start + pattern.bytes.length).equals(pattern.bytes)) continue;
        found.set(`${canary} ${encoding}`, { canary, encoding, place });
      }
    }
    return [...found.values()];
  }

  return {
    scan,
    async scanFolder(folder, skip = () => false) {
      const sightings: Sighting[] = [];
      let total = 0;
      for (const path of await filesBelow(folder)) {
        if (skip(path)) continue;
        const content = await readFile(join(folder, path));
        total += content.length;
        sightings.push(...scan(path, content));
      }
      return { sightings, bytes: total };
    },
  };
}

async function filesBelow(root: string, folder = ''): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const below = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    // The database may lie elsewhere, behind a link.
    return entry.isDirectory() || entry.isSymbolicLink() ? filesBelow(root, path) : [];
  });
  return (await Promise.all(below)).flat();
}

export function randomDigits(length: number): string {
  return Array.from({ length }, (_, index) => randomInt(index === 0 ? 1 : 0, 10)).join('');
}

/** Valid by Luhn's formula. */
export function randomCardNumber(): string {
  const digits = `4${randomDigits(14)}`;
  return [...'0123456789'].map((check) => digits + check).find(isLuhn)!;
}

function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Valid by the checksum of the ABA. */
export function randomRoutingNumber(): string {
  const digits = randomDigits(8);
  const weights = [3, 7, 1, 3, 7, 1, 3, 7];
  const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * weights[index]!, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

export function randomSecret(): string {
  return `canary${randomBytes(9).toString('hex')}`;
}

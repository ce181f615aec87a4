import { isJsonObject } from '../../domain/json.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ReactorLog } from '../../domain/reactor-supervision.ts';
import { LOG_LIMITS } from '../types.ts';
import type { HostCalls } from './host-calls.ts';
import type { PrintedLines } from './sandbox.ts';
import { RequestSecrets } from './secrets.ts';

type Level = ReactorLog['level'];

const LEVELS: Readonly<Record<string, Level>> = { debug: 'debug', info: 'info', warn: 'warn', error: 'error' };
const CUT = '… (cut)';
const WITHHELD = '[withheld: there is too much data in this request to take out of what is printed]';
/** Headers that say how a body is written, and nothing of what it says. */
const PLAIN_HEADERS = new Set(['accept', 'content-length', 'content-type', 'date', 'server', 'user-agent']);

/** What the code of one run prints, as it may be shown: bounded, and without the plaintext that the run has seen. */
export class RunLog implements PrintedLines {
  readonly #print: (level: Level, message: string) => void;
  readonly #secrets = new RequestSecrets();
  #lines = 0;
  #bytes = 0;
  #omitted = 0;

  /** `request` is the JSON text of what the code is given. */
  constructor(request: string, print: (level: Level, message: string) => void) {
    this.#print = print;
    this.#secrets.add(() => parse(request), request.length);
  }

  take(level: string, text: string): boolean {
    this.#lines += 1;
    this.#bytes += Buffer.byteLength(text);
    if (this.#lines > LOG_LIMITS.lines || this.#bytes > LOG_LIMITS.totalBytes) return false;
    const wasCut = text.length > LOG_LIMITS.lineBytes;
    const clean = this.#secrets.redact(text, wasCut);
    this.#print(LEVELS[level] ?? 'info', clean === undefined ? WITHHELD : cut(clean, wasCut));
    return true;
  }

  omit(lines: number): void {
    this.#omitted = Math.max(this.#omitted, lines);
  }

  /** Says what was left out. `whole`: the run has come to its end, so that the number is exact. */
  end(whole: boolean): void {
    if (this.#omitted === 0) return;
    const { lines, totalBytes } = LOG_LIMITS;
    const number = `${whole ? '' : 'At least '}${this.#omitted}`;
    this.#print('warn', `${number} more lines were left out: the limit is ${lines} lines and ${totalBytes} bytes.`);
  }

  /** The same calls; what goes out and comes back by them is from then on taken out of what is printed. */
  watch(calls: HostCalls): HostCalls {
    return async (operation, payload, call) => {
      const values = operation === 'fetch' ? fetchValues : (message: Json) => message;
      this.#secrets.add(() => values(parse(payload)), payload.length);
      const answer = await calls(operation, payload, call);
      this.#secrets.add(() => values((parse(answer) as JsonObject | null)?.['value'] ?? null), answer.length);
      return answer;
    };
  }
}

/** What a request or an answer of `fetch` says: its body, and the headers that are not about its form. */
function fetchValues(message: Json): Json {
  if (!isJsonObject(message)) return null;
  const { headers, body } = message;
  const values = Array.isArray(headers) ? headers.filter(isTelling) : [];
  return [...values, typeof body === 'string' ? bodyValues(Buffer.from(body, 'base64').toString('utf8')) : null];
}

function isTelling(header: Json): boolean {
  return Array.isArray(header) && typeof header[0] === 'string' && !PLAIN_HEADERS.has(header[0].toLowerCase());
}

/** The values in a body: of JSON, of a form, or what stands between the tags of a markup and on its lines. */
function bodyValues(text: string): Json {
  const json = parse(text);
  if (json !== null) return json;
  const parts = text.split(/[&=<>\r\n]+/);
  return [text, ...parts, ...parts.map((part) => unescapeForm(part))];
}

function unescapeForm(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return part;
  }
}

/** Null for what is no JSON. */
function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** At most `lineBytes` of it, never half a character. */
function cut(text: string, wasCut: boolean): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= LOG_LIMITS.lineBytes) return wasCut ? text + CUT : text;
  return new TextDecoder().decode(bytes.subarray(0, LOG_LIMITS.lineBytes), { stream: true }) + CUT;
}

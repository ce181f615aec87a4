import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import { LOG_LIMITS } from '../types.ts';
import { cleanReadings, formsOf } from './secret-forms.ts';

/** Shorter texts are found everywhere by chance. */
const MIN_LENGTH = 4;
/** Texts of one request together, in characters; what is printed beside more cannot be looked through. */
const MAX_CHARACTERS = 2 * 1024 * 1024;
/** What is kept to be looked at, in characters, with the JSON around the texts: code may go on and print nothing. */
const MAX_PENDING = 2 * MAX_CHARACTERS;
/** Different texts of one request: each takes about a KiB to look for. */
const MAX_TEXTS = 20_000;
/** No line is longer: what a text has beyond it can never be found. */
const MAX_TEXT_LENGTH = 2 * LOG_LIMITS.lineBytes;
/** Characters compared for all lines of one request. */
const MAX_COMPARED = 10_000_000;
const REDACTED = '[redacted]';
/** As long as a card's code: looked for where it stands by itself. */
const CARD_CODE = /(?<!\w)\d{3}(?!\w)/g;
/** As long as a card's number or an account's, with or without blanks, whoever it belongs to. */
const CARD_NUMBER = /(?<!\d)\d(?:[ .-]?\d){11,18}(?!\d)/g;

/** Longest name of a member that stands. */
const MAX_NAME_LENGTH = 40;
/** Digits of a name that stands, as of `sha256`. */
const MAX_NAME_DIGITS = 3;

/**
 * The plaintext that one request has been in touch with, taken out of what its code prints: every text and number of
 * its arguments, configuration and answers, also in another normal form, inside JSON, base64, hex or a URL. It guards
 * against printing by mistake; code that means to can always transform what it knows.
 */
export class RequestSecrets {
  #pending: (() => Json | string)[] = [];
  #pendingCharacters = 0;
  /** Forms to look for, by their first characters and then by length. */
  readonly #forms = new Map<string, Map<number, Set<string>>>();
  /** Numbers too short for `#forms` that may be the code of a card. */
  readonly #codes = new Set<string>();
  readonly #texts = new Set<string>();
  #characters = 0;
  #compared = 0;

  /** Looked at only when something is printed; `characters` is how much `read` holds on to until then. */
  add(read: () => Json | string, characters: number): void {
    if (this.#isTooMuch) return;
    this.#pendingCharacters += characters;
    this.#pending.push(read);
    this.#forgetIfTooMuch();
  }

  /** Undefined where the line cannot be looked through in time; then nothing of it may be shown. */
  redact(line: string, wasCut = false): string | undefined {
    for (const read of this.#pending) this.#collect(read());
    this.#forgetIfTooMuch();
    if (this.#isTooMuch) return undefined;
    this.#pending = [];
    this.#pendingCharacters = 0;
    return cleanReadings(line, wasCut, (read) => this.#clean(read, wasCut));
  }

  get #isTooMuch(): boolean {
    const isOver = this.#characters > MAX_CHARACTERS || this.#pendingCharacters > MAX_PENDING;
    return isOver || this.#texts.size > MAX_TEXTS;
  }

  /** Nothing can be shown any more, and what it would be looked through for is of no use. */
  #forgetIfTooMuch(): void {
    if (!this.#isTooMuch) return;
    this.#pending = [];
    this.#forms.clear();
  }

  #clean(line: string, wasCut: boolean): string | undefined {
    let clean = '';
    for (let at = 0; at < line.length;) {
      const length = this.#matchAt(line, at, wasCut);
      if (this.#compared > MAX_COMPARED) return undefined;
      clean += length > 0 ? REDACTED : line[at]!;
      at += Math.max(length, 1);
    }
    clean = clean.replace(CARD_NUMBER, REDACTED);
    if (this.#codes.size > 0) clean = clean.replace(CARD_CODE, (code) => (this.#codes.has(code) ? REDACTED : code));
    return wasCut ? clean.replace(/\d[\d .-]{3,}$/, REDACTED) : clean;
  }

  /** Length of the longest secret that begins here; of a line that was cut, its end may be the beginning of one. */
  #matchAt(line: string, at: number, wasCut: boolean): number {
    const lengths = this.#forms.get(line.slice(at, at + MIN_LENGTH));
    if (!lengths) return 0;
    let longest = 0;
    for (const [length, texts] of lengths) {
      const rest = line.length - at;
      if (length <= longest) continue;
      this.#compared += Math.min(length, rest);
      if (length <= rest) {
        if (texts.has(line.slice(at, at + length))) longest = length;
      } else if (wasCut) {
        const end = line.slice(at);
        for (const text of texts) {
          this.#compared += rest;
          if (text.startsWith(end)) longest = rest;
        }
      }
    }
    return longest;
  }

  #collect(value: Json | string): void {
    if (typeof value === 'string') {
      this.#addText(value);
      const inner = /^\s*[[{]/.test(value) ? parse(value) : undefined;
      if (inner !== undefined) this.#collect(inner);
    }
    if (typeof value === 'number') this.#addText(String(value));
    else if (Array.isArray(value)) value.forEach((item) => this.#collect(item));
    else if (isJsonObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        if (!isName(name)) this.#addText(name);
        this.#collect(item);
      }
    }
  }

  #addText(text: string): void {
    if (/^\d{3}$/.test(text)) this.#codes.add(text);
    if (text.length < MIN_LENGTH || this.#isTooMuch || this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#characters += text.length;
    if (this.#isTooMuch) return;
    for (const form of formsOf(text.slice(0, MAX_TEXT_LENGTH))) {
      if (form.length < MIN_LENGTH) continue;
      const head = form.slice(0, MIN_LENGTH);
      let lengths = this.#forms.get(head);
      if (!lengths) this.#forms.set(head, (lengths = new Map<number, Set<string>>()));
      const texts = lengths.get(form.length);
      if (texts) texts.add(form);
      else lengths.set(form.length, new Set([form]));
    }
  }
}

/** Whether a member's name is one that a program gives, and no value: redacted, lines would say nothing at all. */
function isName(text: string): boolean {
  if (text.length > MAX_NAME_LENGTH || !/^[A-Za-z_$][\w$-]*$/.test(text)) return false;
  return text.replace(/\D/g, '').length <= MAX_NAME_DIGITS;
}

/** The JSON that a text holds in turn, as the data of a token may. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

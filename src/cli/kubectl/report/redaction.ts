import { createHmac, randomBytes } from 'node:crypto';
import { isOurContainer, splitArgument } from './kept-arguments.ts';
import { isFreeKey, isOurArgument, mayBePassword, treatmentOf } from './kept-fields.ts';
import { searchText } from './search-text.ts';

/** Takes what may be secret out of objects and texts that belong together. */
export interface Redaction {
  /** Notes what is secret of objects. To be called with all of them before anything is redacted. */
  learn(objects: readonly unknown[]): void;
  /** Copies without secrets. */
  objects(objects: readonly unknown[]): unknown[];
  /** A text without what is secret of the objects, and without what looks like a number of a card or a key. */
  text(text: string): string;
}

/** Shorter ones stand in too many texts by chance. */
const SHORTEST_SEARCHED = 8;
/** Where a password may stand, and as a word of its own. Letters alone are as likely a word of the log's. */
const SHORT_PASSWORD = /^(?!\p{L}*$).{4,7}$/su;

/** Digests are keyed with bytes that are thrown away: equal texts show as equal, and none can be found by trying. */
export function createRedaction(): Redaction {
  const key = randomBytes(32);
  const secrets = new Set<string>();
  const passwords = new Set<string>();
  const kept = new Set<string>();

  const digest = (text: string): string => {
    const digits = createHmac('sha256', key)
      .update(text)
      .digest('hex')
      .replaceAll(/\d/g, (digit) => 'ghijklmnop'[+digit]!);
    return `redacted:${digits.slice(0, 10)}:${text.length}`;
  };

  const walker: Walker = {
    text(path, text) {
      const treatment = treatmentOf(path);
      if (treatment === 'keep') return text;
      if (treatment === 'search') return walker.sentence(text);
      if (!isOurArgument(path)) return digest(text);
      const { told, secret } = splitArgument(text);
      return secret === '' ? told : told + digest(secret);
    },
    sentence: (text) => text,
    key: digest,
  };
  const learner: Walker = {
    text(path, text) {
      const treatment = treatmentOf(path);
      if (treatment === 'keep') kept.add(text);
      else if (isOurArgument(path)) secrets.add(splitArgument(text).secret);
      else if (treatment === 'redact') {
        for (const part of partsOf(text)) secrets.add(part);
        if (mayBePassword(path)) for (const part of [text, valueOf(text)]) passwords.add(part);
      }
      return text;
    },
    sentence: (text) => text,
    key(text) {
      secrets.add(text);
      return text;
    },
  };

  let search: ((text: string) => string) | undefined;
  const searched = (text: string): string => {
    search ??= searchText(
      {
        anywhere: [...secrets].filter((each) => each.length >= SHORTEST_SEARCHED && !kept.has(each)),
        asWords: [...passwords].filter((each) => SHORT_PASSWORD.test(each) && !kept.has(each)),
      },
      digest,
    );
    return search(text);
  };
  walker.sentence = searched;

  return {
    learn: (found) => void found.forEach((object) => walk(learner, '', object)),
    objects: (found) => found.map((object) => walk(walker, '', object)),
    text: searched,
  };
}

interface Walker {
  text(path: string, text: string): string;
  sentence(text: string): string;
  key(text: string): string;
}

function walk(walker: Walker, path: string, value: unknown): unknown {
  if (typeof value === 'string') return walker.text(path, value);
  // As long as the number of a card.
  if (typeof value === 'number' && Math.abs(value) >= 1e11) return walker.text(`${path}[number]`, String(value));
  if (Array.isArray(value)) return value.map((item: unknown) => walk(walker, `${path}[]`, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'managedFields')
      .map(([key, member]) => {
        const shown = isFreeKey(path, key) ? walker.key(key) : key;
        const ours = key === 'args' && isOurContainer(path, value) ? '[ours]' : '';
        return [shown, walk(walker, `${path === '' ? key : `${path}.${key}`}${ours}`, member)];
      }),
  );
}

/** Of `--flag=value`, the value. */
const valueOf = (text: string): string => text.replace(/^[\w-]+=/, '');

/** A long text, such as code, may be quoted line by line, and what looks like a credential in it by itself. */
function partsOf(text: string): string[] {
  const lines = text.includes('\n') ? text.split('\n').map((line) => line.trim()) : [];
  const words = (text.match(/[\w+/=-]{12,}/g) ?? []).filter((word) => /\d/.test(word));
  return [text, valueOf(text), ...lines, ...words];
}

/** In the place of a secret already. */
const DIGEST = /redacted:[a-p]{10}:\d+(?!\S*@)/;
/** Never taken for the number of a card: ids, and instants to the second or finer. */
const HARMLESS = [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?/];
/** 12 to 19 digits, with what people write between them. */
const CARD_NUMBER = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/;

/** What a quote that ends a text in JSON, or in JSON within that, does not stand before. */
const INSIDE = String.raw`(?!\\?"(?:[\s,:;}\])]|$))`;
const WORD = String.raw`(?:${INSIDE}\S)+`;
const PASSWORD = 'passw(?:or)?d|passphrase|pwd';
const NAME = `(?:${PASSWORD}|secret(?:[_-]?id)?|token|credentials?|(?:api|access)[_-]?key)`;

const CREDENTIALS = [
  /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/,
  // A signed token; tokens of Vault and OpenBao; keys of applications.
  /eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/,
  /(?<![\w.-])(?:hv[sbr]\.[\w-]{8,}|[sbr]\.(?=[a-z]*\d)[a-z\d]{24,})/,
  /key_[\w-]{8,}/,
  // The user of a URL with the password, which may hold any character, and may stand alone.
  new RegExp(String.raw`(?<=:\/\/)${WORD}(?=@)`),
  // `Authorization: Basic …`, `Bearer …`
  new RegExp(String.raw`(?<=\bauthorization\\?"? ?[:=] ?\\?"?)(?![ "\\])(?:[\w-]+ )?${WORD}|(?<=\bbearer )${WORD}`),
  // `"password": "two words"`, `password=…`, `password: …`
  new RegExp(String.raw`(?<=${NAME}\\?"? ?[:=] ?\\?")(?:${INSIDE}[^\n])+`),
  new RegExp(String.raw`(?<=${NAME} ?= ?|(?:${PASSWORD}): )(?!\\?")${WORD}`),
];

export interface Secrets {
  /** Also where they are a part of a longer word. */
  readonly anywhere: readonly string[];
  readonly asWords: readonly string[];
}

/** Makes the function that replaces these secrets, and what looks like one, in a text. */
export function searchText(
  { anywhere, asWords }: Secrets,
  replace: (secret: string) => string,
): (text: string) => string {
  const known = alternativesOf(anywhere);
  const secret = known === undefined ? undefined : new RegExp(known, 'g');
  const words = alternativesOf(asWords);
  // In JSON, a letter before a word may be the end of a line that was escaped.
  const word = words === undefined ? [] : [String.raw`(?<!(?<!\\)[a-z\d])(?:${words})(?![a-z\d])`];
  const sources = (patterns: readonly RegExp[]): string => patterns.map(({ source }) => source).join('|');
  // Of two that begin at the same place, the first one counts: an id may be a password as well.
  const suspicious = new RegExp(
    [
      `(?<digest>${DIGEST.source})`,
      sources(CREDENTIALS),
      `(?<id>${sources(HARMLESS)})`,
      CARD_NUMBER.source,
      ...word,
    ].join('|'),
    'gi',
  );
  return (text) => {
    const withoutKnown = secret === undefined ? text : text.replaceAll(secret, replace);
    return withoutKnown.replaceAll(suspicious, (found, ...rest: unknown[]) => {
      const { digest, id } = rest.at(-1) as { readonly digest?: string; readonly id?: string };
      return digest === undefined && id === undefined ? replace(found) : found;
    });
  };
}

/** The longest first: one may be a part of another. */
function alternativesOf(secrets: readonly string[]): string | undefined {
  const spelled = secrets.toSorted((a, b) => b.length - a.length).flatMap((secret) => [secret, inJson(secret)]);
  return spelled.length === 0 ? undefined : [...new Set(spelled)].map((each) => escape(each)).join('|');
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

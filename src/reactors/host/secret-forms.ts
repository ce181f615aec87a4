/** Of an escape that the end of a line has cut. */
const CUT_ESCAPE = /(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|\ufffd)+$/i;

/** A text as it may turn up: in another normal form, in JSON, in a URL, in hex, and in base64 wherever it begins. */
export function formsOf(text: string): Set<string> {
  return new Set([...normalForms(text)].flatMap(encodingsOf));
}

/** Unicode, annex 15. */
function normalForms(text: string): Set<string> {
  // ASCII has one form alone.
  if (/^[\u0000-\u007f]*$/.test(text)) return new Set([text]);
  return new Set([text, ...(['NFC', 'NFD', 'NFKC', 'NFKD'] as const).map((form) => text.normalize(form))]);
}

function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const encoded = encodeURIComponent(text.toWellFormed());
  const forms = [
    text,
    text.trim(),
    JSON.stringify(text).slice(1, -1),
    encoded,
    encoded.replace(/%20/g, '+'),
    hex,
    hex.toUpperCase(),
  ];
  // The first and last characters depend on what stands beside the text.
  for (const shift of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
    const base64 = whole
      .toString('base64')
      .replace(/=+$/, '')
      .slice(shift === 0 ? 0 : shift + 1, Math.floor((whole.length * 8) / 6));
    forms.push(base64, base64.replace(/\+/g, '-').replace(/\//g, '_'));
  }
  return forms;
}

/** What a line may mean that does not say it letter by letter. Read one after another, each what the last has left. */
const READINGS: readonly ((line: string) => string)[] = [
  unescaped,
  unescaped,
  percentDecoded,
  (line) => (line.includes('%') ? percentDecoded(line.replaceAll('+', ' ')) : line),
  (line) => line.normalize('NFKC'),
];

/**
 * Has `clean` take what it knows out of a line and out of each reading of it. A reading is shown in place of the line
 * only where something was found in it. Undefined as soon as `clean` gives that.
 */
export function cleanReadings(
  line: string,
  wasCut: boolean,
  clean: (line: string) => string | undefined,
): string | undefined {
  let shown = clean(line);
  for (const read of READINGS) {
    if (shown === undefined) return undefined;
    const meant = wasCut ? read(shown).replace(CUT_ESCAPE, '') : read(shown);
    if (meant === shown) continue;
    const found = clean(meant);
    if (found !== meant) shown = found;
  }
  return shown;
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' };

/** As JSON, JavaScript and the inspection of values escape. */
function unescaped(line: string): string {
  return line.replace(
    /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gis,
    (_, wide?: string, narrow?: string, one?: string) =>
      one === undefined ? String.fromCharCode(parseInt(wide ?? narrow!, 16)) : (ESCAPED[one] ?? one),
  );
}

function percentDecoded(line: string): string {
  return line.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

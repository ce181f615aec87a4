import { TOKEN_LIMITS } from '../../../domain/tokens.ts';
import { invalid } from '../../../domain/errors.ts';

// Written `metadata.key` or, as the interface has it, `metadata.[key]`; some clients send all in one `metadata` as
// JSON.
const METADATA_PARAMETER = /^metadata\.(?:\[(.+)\]|(.+))$/;

const NOT_JSON = 'must be a JSON object of texts';

function readJson(text: string): [string, string][] {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    throw invalid('metadata', NOT_JSON);
  }
  if (typeof members !== 'object' || members === null || Array.isArray(members)) throw invalid('metadata', NOT_JSON);
  return Object.entries(members).map(([key, value]) => {
    if (typeof value !== 'string') throw invalid('metadata', NOT_JSON);
    return [key, value];
  });
}

function readParameter(name: string, value: string): [string, string][] {
  if (name === 'metadata') return readJson(value);
  const match = METADATA_PARAMETER.exec(name);
  const key = match?.[1] ?? match?.[2];
  return key === undefined ? [] : [[key, value]];
}

/** The metadata that listed tokens must have. Of a repeated key, letter case aside, the first value counts. */
export function readMetadataFilter(query: URLSearchParams): Record<string, string> | undefined {
  const wanted = new Map<string, string>();
  for (const [name, value] of query) {
    for (const [key, text] of readParameter(name, value)) {
      if (`${key}${text}`.includes('\0')) throw invalid(name.replaceAll('\0', ''), 'must not contain NUL characters');
      if (!key.isWellFormed() || !text.isWellFormed()) throw invalid(name, 'must be well-formed Unicode');
      if (!wanted.has(key.toLowerCase())) wanted.set(key.toLowerCase(), text);
    }
  }
  if (wanted.size > TOKEN_LIMITS.metadataEntries) {
    throw invalid('metadata', `must name at most ${TOKEN_LIMITS.metadataEntries} keys`);
  }
  return wanted.size === 0 ? undefined : Object.fromEntries(wanted);
}

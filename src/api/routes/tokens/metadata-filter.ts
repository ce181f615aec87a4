import { TOKEN_LIMITS } from '../../../domain/tokens.ts';
import { invalid } from '../../../domain/errors.ts';

// Written `metadata.key` or, as the interface has it, `metadata.[key]`.
const METADATA_PARAMETER = /^metadata\.(?:\[(.+)\]|(.+))$/;

/** The metadata that listed tokens must have. Of a repeated key, letter case aside, the first value counts. */
export function readMetadataFilter(query: URLSearchParams): Record<string, string> | undefined {
  const wanted = new Map<string, string>();
  for (const [name, value] of query) {
    const match = METADATA_PARAMETER.exec(name);
    const key = (match?.[1] ?? match?.[2])?.toLowerCase();
    if (key === undefined) continue;
    if (value.includes('\0') || key.includes('\0'))
      throw invalid(name.replaceAll('\0', ''), 'must not contain NUL characters');
    if (!wanted.has(key)) wanted.set(key, value);
  }
  if (wanted.size > TOKEN_LIMITS.metadataEntries) {
    throw invalid('metadata', `must name at most ${TOKEN_LIMITS.metadataEntries} keys`);
  }
  return wanted.size === 0 ? undefined : Object.fromEntries(wanted);
}

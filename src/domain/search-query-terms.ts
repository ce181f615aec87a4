import { isContainer, normalizeContainer } from './containers.ts';
import { INSTANT_FORMATS, parseInstant } from './instants.ts';
import { SEARCH_FIELDS, type SearchTerm } from './search-query.ts';
import { isTokenTypeName, TOKEN_TYPE_NAMES } from './token-types.ts';

/** What stands after the colon of a term. */
export type SearchValue =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'range'; readonly from: string; readonly to: string };

type TextValue = Extract<SearchValue, { kind: 'text' }>;

/** What is wrong with a term, and in which part of it. Never holds anything of the query: that may be data. */
export interface TermFault {
  readonly fault: string;
  readonly in: 'field' | 'value';
}

const METADATA = 'metadata.';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const CONTAINER_PREFIX = /^\/(?:[a-z0-9_-]+\/)*[a-z0-9_-]*$/;

const wrongField = (fault: string): TermFault => ({ fault, in: 'field' });
const wrongValue = (fault: string): TermFault => ({ fault, in: 'value' });

/** Text that stands for itself; what has a meaning of its own elsewhere must be quoted to have none. */
function literal({ text, isQuoted }: TextValue): TermFault | undefined {
  if (text === '') return wrongValue('must not have an empty value');
  if (isQuoted || !/[*\\]/.test(text)) return undefined;
  return wrongValue('must have a value with * or \\ in quotation marks; as a wildcard, * is for containers alone');
}

function containerTerm(text: string): SearchTerm | TermFault {
  const isPrefix = text.endsWith('*');
  const value = normalizeContainer(isPrefix ? text.slice(0, -1) : text);
  if (isPrefix ? CONTAINER_PREFIX.test(value) : isContainer(value)) return { field: 'container', value, isPrefix };
  return wrongValue('must name a container such as /pci/high/, or the beginning of some, such as /pci/*');
}

function bound(text: string): Date | 'open' | undefined {
  return text === '*' ? 'open' : parseInstant(text);
}

function createdAtTerm(value: SearchValue): SearchTerm | TermFault {
  if (value.kind !== 'range') return wrongValue('must have a range for created_at, written [<from> TO <to>]');
  const [from, to] = [bound(value.from), bound(value.to)];
  if (from === undefined || to === undefined) {
    return wrongValue(`must have a range whose ends are * or an instant, which ${INSTANT_FORMATS}`);
  }
  if (from !== 'open' && to !== 'open' && from > to) return wrongValue('must have a range that begins before it ends');
  return { field: 'created_at', ...(from === 'open' ? {} : { from }), ...(to === 'open' ? {} : { to }) };
}

function textTerm(field: string, value: TextValue): SearchTerm | TermFault {
  const { text } = value;
  if (field === 'container') return containerTerm(text);
  const fault = literal(value);
  switch (field) {
    case 'id':
    case 'data':
    case 'fingerprint':
      return fault ?? { field, value: text };
    case 'type':
      return isTokenTypeName(text)
        ? { field, value: text }
        : wrongValue(`must name a type of tokens: ${TOKEN_TYPE_NAMES.join(', ')}`);
    case 'created_by':
      return UUID.test(text)
        ? { field, value: text.toLowerCase() }
        : wrongValue('must name an application by its UUID');
    default:
      return wrongField(`must have one of the fields ${SEARCH_FIELDS}`);
  }
}

/** A term of the field `name` and, for metadata with a quoted key, that key. */
export function readTerm(name: string, quotedKey: string | undefined, value: SearchValue): SearchTerm | TermFault {
  if (name === 'created_at') return createdAtTerm(value);
  if (value.kind === 'range') return wrongValue('must have a range for created_at alone');
  if (!name.startsWith(METADATA)) return textTerm(name, value);
  const key = quotedKey ?? name.slice(METADATA.length);
  if (key === '') return wrongField('must have a key after "metadata."');
  return literal(value) ?? { field: 'metadata', key, value: value.text };
}

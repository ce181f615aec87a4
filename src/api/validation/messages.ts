import type { ErrorObject } from 'ajv';

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const FORMAT_NAMES: Record<string, string> = { uuid: 'a UUID', 'date-time': 'an ISO 8601 date and time' };

// Ajv names members by JSON pointer; errors of this API name them as JavaScript would: rules[0].transform.
function pathOfPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');
}

/** Where a schema violation lies, and what it is in words. Never holds a value of the input. */
export function describeViolation(error: ErrorObject): { path: string; message: string } | undefined {
  const path = pathOfPointer(error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required': {
      const missing = String(params['missingProperty']);
      return { path: path === '' ? missing : `${path}.${missing}`, message: 'is required' };
    }
    case 'type': {
      const types = [params['type']].flat().map((type) => TYPE_NAMES[String(type)] ?? String(type));
      return { path, message: `must be ${types.join(' or ')}` };
    }
    case 'enum':
      // `true` and "true" are one in words.
      return {
        path,
        message: `must be one of ${[...new Set((params['allowedValues'] as unknown[]).map(String))].join(', ')}`,
      };
    case 'format':
      return { path, message: `must be ${FORMAT_NAMES[String(params['format'])] ?? String(params['format'])}` };
    case 'minLength':
      return {
        path,
        message:
          params['limit'] === 1 ? 'must not be empty' : `must have at least ${String(params['limit'])} characters`,
      };
    case 'maxLength':
      return { path, message: `must have at most ${String(params['limit'])} characters` };
    case 'minItems':
      return { path, message: `must have at least ${String(params['limit'])} entries` };
    case 'maxItems':
    case 'maxProperties':
      return { path, message: `must have at most ${String(params['limit'])} entries` };
    case 'minimum':
      return { path, message: `must be ${String(params['limit'])} or more` };
    case 'maximum':
      return { path, message: `must be ${String(params['limit'])} or less` };
    case 'propertyNames':
      return { path, message: 'has a member name that is not allowed' };
    // Its causes are reported by themselves.
    case 'if':
      return undefined;
    default:
      return { path, message: error.message ?? 'is not valid' };
  }
}

import { TOKEN_LIMITS } from '../../../domain/tokens.ts';
import { TOKEN_TYPE_NAMES } from '../../../domain/token-types.ts';
import type { Parameter, Schema } from '../../route.ts';
import { anyJson, instant, textMap, uuid } from '../../schemas/common.ts';

const tokenId: Schema = { type: 'string', maxLength: TOKEN_LIMITS.idLength.max };

const containers: Schema = {
  type: 'array',
  description: 'At most one path, such as `/pci/high/`, with a slash at both ends.',
  items: { type: 'string', maxLength: 400 },
  maxItems: TOKEN_LIMITS.containers,
};

const searchIndexes: Schema = {
  type: 'array',
  description: 'Expressions; each gives one non-empty value by which the token is found.',
  items: { type: 'string', minLength: 1, maxLength: TOKEN_LIMITS.expressionLength },
  maxItems: TOKEN_LIMITS.searchIndexes,
};

const metadata = textMap('Non-sensitive texts. Stored in the clear: never put secrets here.', {
  maxProperties: TOKEN_LIMITS.metadataEntries,
  propertyNames: { maxLength: TOKEN_LIMITS.metadataKeyLength, minLength: 1 },
  additionalProperties: { type: 'string', maxLength: TOKEN_LIMITS.metadataValueLength },
});

const fingerprintExpression: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: TOKEN_LIMITS.expressionLength,
  description: 'Expression whose value is fingerprinted.',
};

const expiresAt: Schema = {
  type: 'string',
  maxLength: 64,
  description: 'ISO 8601, month/day/year with time and AM or PM, or month/day/year. UTC where no offset is given.',
};

const type: Schema = { type: 'string', enum: TOKEN_TYPE_NAMES };

export const createToken: Schema = {
  type: 'object',
  required: ['type', 'data'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 400, description: 'A value, or an expression over `data`.' },
    type,
    data: anyJson,
    mask: { description: 'Template shown where a mask is asked for. Default: by type.' },
    containers,
    metadata,
    search_indexes: searchIndexes,
    fingerprint_expression: fingerprintExpression,
    deduplicate_token: { type: 'boolean', description: 'Answer an existing token of the same type and fingerprint.' },
    expires_at: expiresAt,
    privacy: {
      type: 'object',
      description: 'Deprecated and ignored, save that classification and impact level name the default container.',
      properties: { classification: { type: 'string' }, impact_level: { type: 'string' } },
    },
  },
};

const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });

/** A merge patch: null takes a member away where it has a default or may be absent. */
export const patchToken: Schema = {
  type: 'object',
  properties: {
    data: anyJson,
    mask: { description: 'Merge patch of the mask.' },
    metadata: {
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'null'], maxLength: TOKEN_LIMITS.metadataValueLength },
    },
    containers,
    search_indexes: nullable(searchIndexes),
    fingerprint_expression: nullable(fingerprintExpression),
    deduplicate_token: { type: 'boolean' },
    expires_at: nullable(expiresAt),
  },
};

const cardEnrichments: Schema = {
  type: 'object',
  properties: {
    card_details: { type: 'object', properties: { bin: { type: 'string' }, last4: { type: 'string' } } },
    bin_details: { type: 'object', properties: { card_brand: { type: 'string' } } },
  },
};

export const token: Schema = {
  type: 'object',
  required: ['id', 'type', 'tenant_id', 'containers'],
  properties: {
    id: tokenId,
    type: { type: 'string' },
    tenant_id: uuid,
    data: { description: 'As the access rules show it; absent where redacted.' },
    mask: anyJson,
    enrichments: cardEnrichments,
    fingerprint: { type: 'string' },
    fingerprint_expression: { type: 'string' },
    containers: { type: 'array', items: { type: 'string' } },
    metadata: textMap('Non-sensitive texts.'),
    search_indexes: { type: 'array', items: { type: 'string' } },
    expires_at: instant,
    created_by: uuid,
    created_at: instant,
    modified_by: uuid,
    modified_at: instant,
  },
};

export const detokenizeRequest: Schema = {
  type: 'object',
  description:
    'Values with expressions such as `{{ <token id> | json: "$.number" }}`, or `{"tokens": [<token id>, …]}`, whose ' +
    'entries may also be `{{ <token id> }}`. A list with a bare id holds nothing but ids and such expressions: what has ' +
    'filters, or text around it, is refused there.',
};

export const detokenizeResponse: Schema = { description: 'The request with each expression replaced by its value.' };

export const tokenizeRequest: Schema = {
  description: 'Any JSON. Objects with `type` and `data` become tokens; any other primitive becomes a token’s id.',
};

export const tokenizeResponse: Schema = { description: 'The request in the same shape, tokens in the place of data.' };

const metadataParameter: Parameter = {
  name: 'metadata.<key>',
  in: 'query',
  description: 'Tokens whose metadata have this value, letter case aside. Several are combined with AND.',
  schema: { type: 'string' },
};

/** Both ways to filter by metadata. */
export const metadataParameters: readonly Parameter[] = [
  metadataParameter,
  {
    name: 'metadata',
    in: 'query',
    description: 'The same for several keys at once: a JSON object of texts, such as `{"order":"17"}`.',
    schema: { type: 'string' },
  },
];

export const listFilters: readonly Parameter[] = [
  {
    name: 'container',
    in: 'query',
    description: 'Tokens in this container and those below it.',
    schema: { type: 'string', maxLength: 400 },
  },
  { name: 'type', in: 'query', description: 'Tokens of this type.', schema: type },
  {
    name: 'fingerprint',
    in: 'query',
    description: 'Tokens with this fingerprint.',
    schema: { type: 'string', maxLength: 100 },
  },
];

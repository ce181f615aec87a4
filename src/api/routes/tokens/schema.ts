import { TOKEN_LIMITS } from '../../../domain/tokens.ts';
import { TOKEN_TYPE_NAMES } from '../../../domain/token-types.ts';
import type { Parameter, Schema } from '../../route.ts';
import { authorship, instant, textMap, uuid } from '../../schemas/common.ts';

const tokenId: Schema = { type: 'string', maxLength: TOKEN_LIMITS.idLength.max, description: 'Id of the token.' };

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

const type: Schema = {
  type: 'string',
  enum: TOKEN_TYPE_NAMES,
  description: 'What the data are: decides how they are checked, masked and fingerprinted.',
};

export const createToken: Schema = {
  title: 'NewToken',
  type: 'object',
  required: ['type', 'data'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 400, description: 'A value, or an expression over `data`.' },
    type,
    data: { description: 'What is to be kept secret: any JSON value that the type allows.' },
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
      properties: {
        classification: { type: 'string', description: 'First part of the default container.' },
        impact_level: { type: 'string', description: 'Second part of the default container.' },
      },
    },
  },
};

const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });

/** A merge patch: null takes a member away where it has a default or may be absent. */
export const patchToken: Schema = {
  title: 'TokenPatch',
  type: 'object',
  properties: {
    data: { description: 'Merge patch of the data.' },
    mask: { description: 'Merge patch of the mask.' },
    metadata: {
      type: ['object', 'null'],
      description: 'Merge patch of the metadata.',
      additionalProperties: { type: ['string', 'null'], maxLength: TOKEN_LIMITS.metadataValueLength },
    },
    containers,
    search_indexes: nullable(searchIndexes),
    fingerprint_expression: nullable(fingerprintExpression),
    deduplicate_token: {
      type: 'boolean',
      description: 'Whether the answer shows less where a token that the caller may not read has the same data.',
    },
    expires_at: nullable(expiresAt),
  },
};

const cardEnrichments: Schema = {
  title: 'CardEnrichments',
  type: 'object',
  description: 'What is known of a card. Only where `{{ token: <id> }}` or a list of tokens is detokenized.',
  properties: {
    card_details: {
      type: 'object',
      description: 'Parts of its number.',
      properties: {
        bin: { type: 'string', description: 'The first digits, which tell the issuer.' },
        last4: { type: 'string', description: 'The last four digits.' },
      },
    },
    bin_details: {
      type: 'object',
      description: 'What its first digits tell.',
      properties: { card_brand: { type: 'string', description: 'Such as `visa`.' } },
    },
  },
};

export const token: Schema = {
  title: 'Token',
  type: 'object',
  description: 'A secret under an id, as the access rules of the caller show it.',
  required: ['id', 'type', 'tenant_id', 'containers'],
  properties: {
    id: tokenId,
    type: { type: 'string', description: 'What the data are.' },
    tenant_id: { ...uuid, description: 'Tenant of the token.' },
    data: { description: 'As the access rules show it; absent where redacted.' },
    mask: { description: 'Template shown where a mask is asked for. Absent: there is none.' },
    enrichments: cardEnrichments,
    fingerprint: { type: 'string', description: 'The same for the same data of one type. It does not give them away.' },
    fingerprint_expression: { type: 'string', description: 'Expression whose value is fingerprinted.' },
    containers: { type: 'array', items: { type: 'string' }, description: 'The one path under which it lies.' },
    metadata: textMap('Non-sensitive texts.'),
    search_indexes: {
      type: 'array',
      items: { type: 'string' },
      description: 'Expressions; the token is found by their values.',
    },
    damaged: {
      type: 'boolean',
      description:
        'On pages: true where what is stored of it was altered or lost, and so is shown to nobody. It may be ' +
        'deleted; whatever needs its data answers 422 until an operator has restored it.',
    },
    expires_at: { ...instant, description: 'When it is deleted. Absent: never.' },
    ...authorship,
  },
  examples: [
    {
      id: 'd2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4',
      type: 'card',
      tenant_id: '5d3c9a70-8a3b-4f6e-9b1d-2c7e4f5a6b80',
      data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
      mask: {
        number: '{{ data.number | reveal_last: 4 }}',
        expiration_month: '{{ data.expiration_month }}',
        expiration_year: '{{ data.expiration_year }}',
      },
      fingerprint: 'CC2XvyoohnqecEq4r3FtXv6MdCx4TbaW1UUTdCCN5MNL',
      fingerprint_expression: '{{ data.number }}',
      containers: ['/pci/high/'],
      metadata: { customer: '42' },
      created_by: 'e1a7c3d4-52b6-4f8a-9c0d-1e2f3a4b5c6d',
      created_at: '2026-11-21T09:30:00.000Z',
    },
  ],
};

export const detokenizeRequest: Schema = {
  type: 'object',
  description:
    'Values with expressions such as `{{ <token id> | json: "$.number" }}`, or `{"tokens": [<token id>, …]}`, whose ' +
    'entries may also be `{{ <token id> }}`. A list with a bare id holds nothing but ids and such expressions: what ' +
    'has filters, or text around it, is refused there.',
};

export const detokenizeResponse: Schema = {
  description: 'The request with each expression replaced by its value.',
  examples: [{ number: '4242424242424242' }],
};

export const tokenizeRequest: Schema = {
  description: 'Any JSON. Objects with `type` and `data` become tokens; any other primitive becomes a token’s id.',
};

export const tokenizeResponse: Schema = {
  description: 'The request in the same shape, tokens in the place of data.',
  examples: [{ card: (token['examples'] as object[])[0], note: '8a5b7f3c-1d2e-4f60-9a8b-7c6d5e4f3a2b' }],
};

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

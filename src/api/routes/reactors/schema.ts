import { REACTOR_LIMITS } from '../../../domain/reactors.ts';
import type { Schema } from '../../route.ts';
import { instant, textMap, uuid } from '../../schemas/common.ts';

const name: Schema = { type: 'string', minLength: 1, maxLength: REACTOR_LIMITS.nameLength };

const code: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: REACTOR_LIMITS.codeLength,
  description: 'A CommonJS module: `module.exports = async function (req) { … }`.',
};

const configuration = textMap('Values that the code finds in `req.configuration`.', {
  maxProperties: REACTOR_LIMITS.configurationEntries,
  additionalProperties: { type: 'string', maxLength: REACTOR_LIMITS.configurationValueLength },
});

const application: Schema = {
  type: ['object', 'null'],
  required: ['id'],
  properties: { id: uuid },
  description: 'The application whose access `req.svc` has. It must be public or private.',
};

export const putReactor: Schema = {
  type: 'object',
  required: ['name', 'code', 'configuration'],
  properties: { name, code, configuration, application },
};

export const patchReactor: Schema = {
  type: 'object',
  properties: {
    name,
    code,
    configuration: {
      ...configuration,
      additionalProperties: { type: ['string', 'null'], maxLength: REACTOR_LIMITS.configurationValueLength },
    },
    application: { ...application, required: [] },
  },
};

export const reactor: Schema = {
  type: 'object',
  required: ['id', 'tenant_id', 'name', 'code', 'configuration'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    name: { type: 'string' },
    code: { type: 'string' },
    configuration: textMap('Values that the code finds in `req.configuration`.'),
    application: { type: 'object', properties: { id: uuid } },
    created_by: uuid,
    created_at: instant,
    modified_by: uuid,
    modified_at: instant,
  },
};

export const reactRequest: Schema = {
  type: 'object',
  properties: {
    args: { type: 'object', description: 'Plain values and detokenization expressions.' },
    callback_url: { type: 'string', description: 'Asynchronous invocation is not available yet.' },
  },
};

export const reactResponse: Schema = {
  type: 'object',
  properties: {
    tokens: { description: 'The code’s `tokenize` output, tokens in the place of data.' },
    raw: { description: 'The code’s `raw` output.' },
  },
};

import { REACTOR_LIMITS } from '../../../domain/reactors.ts';
import type { Schema } from '../../route.ts';
import { authorship, textMap, uuid } from '../../schemas/common.ts';

const name: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: REACTOR_LIMITS.nameLength,
  description: 'What people call it.',
};

const applicationId: Schema = { ...uuid, description: 'Id of the application.' };

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
  properties: { id: applicationId },
  description: 'The application whose access `req.svc` has. It must be public or private.',
};

export const putReactor: Schema = {
  title: 'ReactorInput',
  type: 'object',
  required: ['name', 'code', 'configuration'],
  properties: { name, code, configuration, application },
};

export const patchReactor: Schema = {
  title: 'ReactorPatch',
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

export const REACTOR_EXAMPLE = {
  name: 'Card brand',
  code: 'module.exports = async function (req) { return { raw: { last4: req.args.card.number.slice(-4) } }; };',
  configuration: {},
};

export const reactor: Schema = {
  title: 'Reactor',
  type: 'object',
  description: 'Code of the tenant’s own that the service runs over plaintext.',
  required: ['id', 'tenant_id', 'name'],
  properties: {
    id: { ...uuid, description: 'Id of the reactor.' },
    tenant_id: { ...uuid, description: 'Tenant of the reactor.' },
    name: { type: 'string', description: 'What people call it.' },
    code: { type: 'string', description: 'The CommonJS module that is run. Absent where it is damaged.' },
    configuration: textMap('Values that the code finds in `req.configuration`.'),
    application: {
      type: 'object',
      properties: { id: applicationId },
      description: 'The application whose access `req.svc` has. Absent: `req.svc` is null.',
    },
    damaged: {
      type: 'boolean',
      description:
        'On pages: true where what is stored of code and configuration was altered or lost, so that it does not run. ' +
        'Replace it with PUT, or have an operator restore it.',
    },
    ...authorship,
  },
  examples: [
    {
      id: '3f8d1c2b-6a5e-4d7f-8091-a2b3c4d5e6f7',
      tenant_id: '5d3c9a70-8a3b-4f6e-9b1d-2c7e4f5a6b80',
      ...REACTOR_EXAMPLE,
      created_by: '9c4e2b1a-7d60-4a35-8e9f-0a1b2c3d4e5f',
      created_at: '2026-11-21T09:30:00.000Z',
    },
  ],
};

export const reactRequest: Schema = {
  title: 'Invocation',
  type: 'object',
  properties: {
    args: { type: 'object', description: 'Plain values and detokenization expressions.' },
    callback_url: {
      type: 'string',
      maxLength: 2_000,
      description: 'Where the result is POSTed: the invocation is asynchronous then. An https URL.',
    },
  },
};

export const reactResponse: Schema = {
  title: 'InvocationResult',
  type: 'object',
  properties: {
    tokens: { description: 'The code’s `tokenize` output, tokens in the place of data.' },
    raw: { description: 'The code’s `raw` output.' },
  },
  examples: [{ raw: { last4: '4242' } }],
};

const invocationId: Schema = { ...uuid, description: 'Id of the invocation; its callback has it too.' };

export const unendedInvocation: Schema = {
  title: 'UnendedInvocation',
  type: 'object',
  required: ['id', 'state'],
  properties: {
    id: invocationId,
    state: { type: 'string', enum: ['waiting', 'running'], description: '`running` once its code may have begun.' },
  },
  examples: [{ id: '7d1f3a52-0c4e-4b8d-9a6f-1e2d3c4b5a69', state: 'waiting' }],
};

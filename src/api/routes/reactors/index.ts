import type { JsonObject } from '../../../domain/json.ts';
import {
  createReactor,
  deleteReactor,
  pageReactors,
  patchReactor,
  type ReactorInput,
  type ReactorParts,
  type ReactorPatch,
  readReactor,
  updateReactor,
} from '../../../services/reactors/manage.ts';
import { react, type ReactParts } from '../../../services/reactors/react.ts';
import type { UpdateTurns } from '../../../services/update-turns.ts';
import { DomainError } from '../../../domain/errors.ts';
import { type OffsetQuery, presentOffsetPage } from '../../pagination.ts';
import { type Route, route } from '../../route.ts';
import {
  idsParameter,
  locationHeader,
  noContent,
  offsetEnvelope,
  offsetParameters,
  pathId,
} from '../../schemas/common.ts';
import { tokenInputCheck } from '../tokens/check.ts';
import { presentToken } from '../tokens/present.ts';
import { presentOutcome } from './present-outcome.ts';
import { presentReactor } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Reactors';
const reactorId = pathId('Id of the reactor.');
const example = schema.REACTOR_EXAMPLE;
const refusedCode = { description: 'The code does not compile, or exports no function.' };
const damagedReactor = { description: 'What is stored of the reactor is damaged, and was refused.' };

export function reactorRoutes(
  parts: ReactorParts & { readonly reactorUpdates: UpdateTurns; readonly invocation: ReactParts },
): Route[] {
  const check = tokenInputCheck(parts.clock);
  return [
    route<ReactorInput>({
      method: 'post',
      path: '/reactors',
      operationId: 'createReactor',
      tag,
      summary: 'Create a reactor',
      permission: 'reactor:create',
      body: { contentType: 'application/json', schema: schema.putReactor, example },
      responses: {
        201: { description: 'The reactor.', schema: schema.reactor, headers: locationHeader },
        422: refusedCode,
      },
      async handle({ caller, body }) {
        const reactor = await createReactor(parts, caller, body);
        return { status: 201, body: presentReactor(reactor), headers: { Location: `/reactors/${reactor.id}` } };
      },
    }),
    route<unknown, OffsetQuery & { id?: string[]; name?: string }>({
      method: 'get',
      path: '/reactors',
      operationId: 'listReactors',
      tag,
      summary: 'List reactors',
      permission: 'reactor:read',
      parameters: [
        idsParameter('Reactors with these ids.'),
        {
          name: 'name',
          in: 'query',
          description: 'Reactors of this name, letter case aside; `*` stands for any text.',
          schema: { type: 'string', maxLength: 200 },
        },
        ...offsetParameters,
      ],
      responses: { 200: { description: 'A page, newest first.', schema: offsetEnvelope(schema.reactor) } },
      async handle({ caller, query }) {
        const page = await pageReactors(parts, caller, { ids: query.id, name: query.name }, query);
        return { status: 200, body: presentOffsetPage(page, query, presentReactor) };
      },
    }),
    route({
      method: 'get',
      path: '/reactors/{id}',
      operationId: 'getReactor',
      tag,
      summary: 'Read a reactor',
      permission: 'reactor:read',
      parameters: [reactorId],
      responses: { 200: { description: 'The reactor.', schema: schema.reactor }, 422: damagedReactor },
      async handle({ caller, params }) {
        return { status: 200, body: presentReactor(await readReactor(parts, caller, params['id']!)) };
      },
    }),
    route<ReactorInput>({
      method: 'put',
      path: '/reactors/{id}',
      operationId: 'updateReactor',
      tag,
      summary: 'Replace a reactor',
      permission: 'reactor:update',
      parameters: [reactorId],
      body: { contentType: 'application/json', schema: schema.putReactor, example },
      responses: { 200: { description: 'The reactor.', schema: schema.reactor }, 422: refusedCode },
      async handle({ caller, params, body }) {
        return { status: 200, body: presentReactor(await updateReactor(parts, caller, params['id']!, body)) };
      },
    }),
    route<ReactorPatch>({
      method: 'patch',
      path: '/reactors/{id}',
      operationId: 'patchReactor',
      tag,
      summary: 'Change parts of a reactor',
      permission: 'reactor:update',
      parameters: [reactorId],
      body: {
        contentType: 'application/merge-patch+json',
        schema: schema.patchReactor,
        example: { name: 'Card brand and country' },
      },
      responses: {
        204: noContent,
        409: { description: 'Others keep updating the reactor.' },
        422: { description: `${refusedCode.description} Or: ${damagedReactor.description}` },
      },
      async handle({ caller, params, body, signal }) {
        await patchReactor(parts, caller, params['id']!, body, signal);
        return { status: 204 };
      },
    }),
    route({
      method: 'delete',
      path: '/reactors/{id}',
      operationId: 'deleteReactor',
      tag,
      summary: 'Delete a reactor',
      permission: 'reactor:delete',
      parameters: [reactorId],
      responses: { 204: noContent },
      async handle({ caller, params }) {
        await deleteReactor(parts, caller, params['id']!);
        return { status: 204 };
      },
    }),
    route<{ args?: JsonObject; callback_url?: string }>({
      method: 'post',
      path: '/reactors/{id}/react',
      operationId: 'react',
      tag,
      summary: 'Run a reactor',
      description:
        'Errors that the code throws are answered with their own status; a custom answer goes through as it is.',
      permission: 'token:use',
      parameters: [reactorId],
      body: {
        contentType: 'application/json',
        schema: schema.reactRequest,
        example: { args: { card: '{{ d2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4 }}' } },
      },
      responses: {
        200: { description: 'What the code gave.', schema: schema.reactResponse },
        402: { description: 'The code threw an InvalidPaymentMethodError.' },
        409: { description: 'The code wants a token under an id that is taken; nothing was stored.' },
        422: {
          description:
            'The application of the reactor does not exist any more, or what is stored of the reactor, or of a token ' +
            'that the arguments name or the code’s output duplicates, is damaged.',
        },
        429: { description: 'The code threw a RateLimitError.' },
        501: { description: 'Asynchronous invocation is not available.' },
        502: { description: 'The code’s process crashed or ran out of memory.' },
        503: { description: 'No instance is free, or a part of the service cannot be reached.' },
        504: { description: 'The code did not finish in time.' },
      },
      otherResponses: { description: 'The code’s own answer, thrown as a CustomHttpResponseError.' },
      async handle({ caller, params, body, traceId }) {
        if (body.callback_url !== undefined) {
          throw new DomainError('not-implemented', 'Asynchronous invocation (callback_url) is not available yet.');
        }
        const request = { reactorId: params['id']!, args: body.args ?? {}, traceId };
        const surface = { check, render: presentToken };
        return presentOutcome(await react(parts.invocation, caller, request, surface), traceId);
      },
    }),
  ];
}

import type { JsonObject } from '../../../domain/json.ts';
import { acceptInvocation } from '../../../services/reactors/asynchronous/accept.ts';
import { readResult } from '../../../services/reactors/asynchronous/result.ts';
import type { AsynchronousParts } from '../../../services/reactors/asynchronous/types.ts';
import { react } from '../../../services/reactors/react.ts';
import { type Parameter, type Route, route } from '../../route.ts';
import { locationHeader, pathId, uuid } from '../../schemas/common.ts';
import { presentOutcome } from './present-outcome.ts';
import * as schema from './schema.ts';

const tag = 'Reactors';
const reactorId = pathId('Id of the reactor.');
const requestId: Parameter = {
  name: 'requestId',
  in: 'path',
  required: true,
  description: 'Id of the invocation, as the `Location` of the 202 ends.',
  schema: uuid,
};
const retryAfterHeader = {
  'Retry-After': { description: 'When to ask again, in seconds.', schema: { type: 'integer' } },
};
/** Between two looks at an invocation that has not ended, in s. */
const RETRY_AFTER = '1';

/** What the code of an invocation, or the lack of an instance, leads to, whenever it is told. */
const outcomes = {
  402: { description: 'The code threw an InvalidPaymentMethodError.' },
  409: { description: 'The code wants a token under an id that is taken; nothing was stored.' },
  502: { description: 'The code’s process crashed or ran out of memory.' },
  503: { description: 'No instance is free, or a part of the service cannot be reached.' },
  504: { description: 'The code did not finish in time.' },
};

const otherResponses = { description: 'The code’s own answer, thrown as a CustomHttpResponseError.' };

export interface InvocationRouteParts extends AsynchronousParts {
  /** Told of each invocation that was accepted. */
  readonly onAccepted: () => void;
}

export function invocationRoutes(parts: InvocationRouteParts): Route[] {
  return [
    route<{ args?: JsonObject; callback_url?: string }>({
      method: 'post',
      path: '/reactors/{id}/react',
      operationId: 'react',
      tag,
      summary: 'Run a reactor',
      description:
        'Errors that the code throws are answered with their own status; a custom answer goes through as it is. With ' +
        '`callback_url`, nobody waits: the answer is 202, and what it would have been is POSTed there, signed as ' +
        '[Standard Webhooks](https://www.standardwebhooks.com) are; see docs/callbacks.md.',
      permission: 'token:use',
      parameters: [reactorId],
      body: {
        contentType: 'application/json',
        schema: schema.reactRequest,
        example: { args: { card: '{{ d2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4 }}' } },
      },
      responses: {
        200: { description: 'What the code gave.', schema: schema.reactResponse },
        202: {
          description: 'With `callback_url`: the invocation will be run. Its result is read at `Location`.',
          headers: locationHeader,
        },
        ...outcomes,
        422: {
          description:
            'The application of the reactor does not exist any more, or what is stored of the reactor, or of a token ' +
            'that the arguments name or the code’s output duplicates, is damaged.',
        },
        429: {
          description: 'The code threw a RateLimitError, or too many asynchronous invocations of the tenant wait.',
        },
      },
      otherResponses,
      async handle({ caller, params, body, traceId }) {
        const request = { reactorId: params['id']!, args: body.args ?? {}, traceId };
        if (body.callback_url === undefined) {
          return presentOutcome(await react(parts.invocation, caller, request, parts.surface), traceId);
        }
        const id = await acceptInvocation(parts, caller, { ...request, callbackUrl: body.callback_url });
        parts.onAccepted();
        return { status: 202, headers: { Location: `/reactors/${request.reactorId}/results/${id}` } };
      },
    }),
    route({
      method: 'get',
      path: '/reactors/{id}/results/{requestId}',
      operationId: 'getReactorResult',
      tag,
      summary: 'Read the result of an asynchronous invocation',
      description:
        'For the application that asked alone, for 24 hours after the code has ended: exactly what the invocation ' +
        'would have been answered without `callback_url`, with its status.',
      permission: 'token:use',
      applicationType: 'private',
      parameters: [reactorId, requestId],
      responses: {
        200: { description: 'What the code gave.', schema: schema.reactResponse },
        202: {
          description: 'The code has not ended.',
          schema: schema.unendedInvocation,
          headers: retryAfterHeader,
        },
        ...outcomes,
        422: { description: 'What is stored of the result, or was of what it was made from, is damaged.' },
        429: { description: 'The code threw a RateLimitError.' },
      },
      otherResponses,
      async handle({ caller, params }) {
        const result = await readResult(parts, caller, { reactorId: params['id']!, id: params['requestId']! });
        if (result.ended) return { ...result.answer, verbatim: true };
        const body = { id: params['requestId']!, state: result.state };
        return { status: 202, body, headers: { 'Retry-After': RETRY_AFTER } };
      },
    }),
  ];
}

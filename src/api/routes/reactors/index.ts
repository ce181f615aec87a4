import { REACTOR_LIMITS } from '../../../domain/reactors.ts';
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
import type { UpdateTurns } from '../../../services/update-turns.ts';
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
import { invocationRoutes, type InvocationRouteParts } from './invocations.ts';
import { presentReactor } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Reactors';
const { documentBytes: limitBytes } = REACTOR_LIMITS;
const reactorId = pathId('Id of the reactor.');
const example = schema.REACTOR_EXAMPLE;
const refusedCode = { description: 'The code does not compile, or exports no function.' };
const damagedReactor = { description: 'What is stored of the reactor is damaged, and was refused.' };

export function reactorRoutes(
  parts: ReactorParts & { readonly reactorUpdates: UpdateTurns; readonly asynchronous: InvocationRouteParts },
): Route[] {
  return [
    route<ReactorInput>({
      method: 'post',
      path: '/reactors',
      operationId: 'createReactor',
      tag,
      summary: 'Create a reactor',
      permission: 'reactor:create',
      body: { contentType: 'application/json', schema: schema.putReactor, limitBytes, example },
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
      body: { contentType: 'application/json', schema: schema.putReactor, limitBytes, example },
      responses: { 200: { description: 'The reactor.', schema: schema.reactor }, 422: refusedCode },
      async handle({ caller, params, body, signal }) {
        const reactor = await updateReactor(parts, caller, params['id']!, body, signal);
        return { status: 200, body: presentReactor(reactor) };
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
        limitBytes,
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
    ...invocationRoutes(parts.asynchronous),
  ];
}

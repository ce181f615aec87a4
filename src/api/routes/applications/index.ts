import type { ApplicationType } from '../../../domain/applications.ts';
import { APPLICATION_TYPES } from '../../../domain/applications.ts';
import {
  type ApplicationParts,
  type ApplicationUpdate,
  type ApplicationWithKeys,
  createApplication,
  deleteApplication,
  type NewApplicationInput,
  pageApplications,
  readApplication,
  updateApplication,
} from '../../../services/applications.ts';
import { regenerateKey } from '../../../services/key-regeneration.ts';
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
import { refineApplication, refineUpdate } from './check.ts';
import { presentApplication } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Applications';
const applicationId = pathId('Id of the application.');

function present({ application, keys, key }: ApplicationWithKeys) {
  return presentApplication(application, keys, key);
}

export function applicationRoutes(parts: ApplicationParts): Route[] {
  return [
    route<NewApplicationInput>({
      method: 'post',
      path: '/applications',
      operationId: 'createApplication',
      tag,
      summary: 'Create an application',
      permission: 'application:create',
      body: {
        contentType: 'application/json',
        schema: schema.createApplication,
        refine: refineApplication(parts.clock),
        example: {
          name: 'Checkout',
          type: 'private',
          rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] }],
        },
      },
      responses: {
        201: { description: 'The application.', schema: schema.applicationWithKey, headers: locationHeader },
      },
      async handle({ caller, body }) {
        const created = await createApplication(parts, caller, body);
        const Location = `/applications/${created.application.id}`;
        return { status: 201, body: present(created), headers: { Location } };
      },
    }),
    route<unknown, OffsetQuery & { id?: string[]; type?: ApplicationType[] }>({
      method: 'get',
      path: '/applications',
      operationId: 'listApplications',
      tag,
      summary: 'List applications',
      permission: 'application:read',
      parameters: [
        idsParameter('Applications with these ids.'),
        {
          name: 'type',
          in: 'query',
          description: 'Applications of these types.',
          schema: {
            type: 'array',
            items: { type: 'string', enum: APPLICATION_TYPES },
            maxItems: APPLICATION_TYPES.length,
          },
        },
        ...offsetParameters,
      ],
      responses: { 200: { description: 'A page, newest first.', schema: offsetEnvelope(schema.application) } },
      async handle({ caller, query }) {
        const page = await pageApplications(parts, caller, { ids: query.id, types: query.type }, query);
        return { status: 200, body: presentOffsetPage(page, query, present) };
      },
    }),
    route({
      method: 'get',
      path: '/applications/key',
      operationId: 'getApplicationByKey',
      tag,
      summary: 'Read the application that owns the key of the request',
      permission: 'application:read',
      responses: { 200: { description: 'The application.', schema: schema.application } },
      async handle({ caller }) {
        return { status: 200, body: present(await readApplication(parts, caller, caller.applicationId)) };
      },
    }),
    route({
      method: 'get',
      path: '/applications/{id}',
      operationId: 'getApplication',
      tag,
      summary: 'Read an application',
      permission: 'application:read',
      parameters: [applicationId],
      responses: { 200: { description: 'The application.', schema: schema.application } },
      async handle({ caller, params }) {
        return { status: 200, body: present(await readApplication(parts, caller, params['id']!)) };
      },
    }),
    route<ApplicationUpdate>({
      method: 'put',
      path: '/applications/{id}',
      operationId: 'updateApplication',
      tag,
      summary: 'Replace name, permissions and rules of an application',
      permission: 'application:update',
      parameters: [applicationId],
      body: {
        contentType: 'application/json',
        schema: schema.updateApplication,
        refine: refineUpdate,
        example: { name: 'Checkout', permissions: ['token:create'] },
      },
      responses: { 200: { description: 'The application.', schema: schema.application } },
      async handle({ caller, params, body }) {
        return { status: 200, body: present(await updateApplication(parts, caller, params['id']!, body)) };
      },
    }),
    route({
      method: 'post',
      path: '/applications/{id}/regenerate',
      operationId: 'regenerateApplicationKey',
      tag,
      summary: 'Replace the only key of an application',
      description: 'The old key stops working at once. Create a new key instead, and delete the old one afterwards.',
      permission: 'application:update',
      deprecated: { since: '2024-04-17', sunset: '2024-10-17', successor: '/applications/{id}/keys' },
      parameters: [applicationId],
      responses: {
        200: { description: 'The application, with its new key in `key`.', schema: schema.applicationWithKey },
        422: { description: 'The application has not exactly one key, or a resource declares it.' },
      },
      async handle({ caller, params }) {
        return { status: 200, body: present(await regenerateKey(parts, caller, params['id']!)) };
      },
    }),
    route({
      method: 'delete',
      path: '/applications/{id}',
      operationId: 'deleteApplication',
      tag,
      summary: 'Delete an application and its keys',
      permission: 'application:delete',
      parameters: [applicationId],
      responses: { 204: noContent },
      async handle({ caller, params }) {
        await deleteApplication(parts, caller, params['id']!);
        return { status: 204 };
      },
    }),
  ];
}

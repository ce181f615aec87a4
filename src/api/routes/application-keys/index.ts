import { createKey, deleteKey, pageKeys, readKey } from '../../../services/application-keys.ts';
import type { ApplicationParts } from '../../../services/applications.ts';
import { type OffsetQuery, presentOffsetPage } from '../../pagination.ts';
import { type Parameter, type Route, route } from '../../route.ts';
import { locationHeader, noContent, offsetEnvelope, offsetParameters, pathId, uuid } from '../../schemas/common.ts';
import { presentApplicationKey } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Application keys';
const applicationId = pathId('Id of the application.');
const keyId: Parameter = { name: 'keyId', in: 'path', required: true, description: 'Id of the key.', schema: uuid };

export function applicationKeyRoutes(parts: ApplicationParts): Route[] {
  return [
    route({
      method: 'post',
      path: '/applications/{id}/keys',
      operationId: 'createApplicationKey',
      tag,
      summary: 'Create one more key of an application',
      description: 'Existing keys go on working. The value is answered here and never again.',
      permission: 'application:create',
      parameters: [applicationId],
      responses: {
        201: { description: 'The key.', schema: schema.createdApplicationKey, headers: locationHeader },
        422: { description: 'The application has as many keys as it may have.' },
      },
      async handle({ caller, params }) {
        const { stored, value } = await createKey(parts, caller, params['id']!);
        return {
          status: 201,
          body: { ...presentApplicationKey(stored), key: value },
          headers: { Location: `/applications/${stored.applicationId}/keys/${stored.id}` },
        };
      },
    }),
    route<unknown, OffsetQuery>({
      method: 'get',
      path: '/applications/{id}/keys',
      operationId: 'listApplicationKeys',
      tag,
      summary: 'List the keys of an application',
      permission: 'application:read',
      parameters: [applicationId, ...offsetParameters],
      responses: { 200: { description: 'A page, newest first.', schema: offsetEnvelope(schema.applicationKey) } },
      async handle({ caller, params, query }) {
        const page = await pageKeys(parts, caller, params['id']!, query);
        return { status: 200, body: presentOffsetPage(page, query, presentApplicationKey) };
      },
    }),
    route({
      method: 'get',
      path: '/applications/{id}/keys/{keyId}',
      operationId: 'getApplicationKey',
      tag,
      summary: 'Read a key, without its value',
      permission: 'application:read',
      parameters: [applicationId, keyId],
      responses: { 200: { description: 'The key.', schema: schema.applicationKey } },
      async handle({ caller, params }) {
        const key = await readKey(parts, caller, params['id']!, params['keyId']!);
        return { status: 200, body: presentApplicationKey(key) };
      },
    }),
    route({
      method: 'delete',
      path: '/applications/{id}/keys/{keyId}',
      operationId: 'deleteApplicationKey',
      tag,
      summary: 'Delete a key',
      permission: 'application:delete',
      parameters: [applicationId, keyId],
      responses: { 204: noContent },
      async handle({ caller, params }) {
        await deleteKey(parts, caller, params['id']!, params['keyId']!);
        return { status: 204 };
      },
    }),
  ];
}

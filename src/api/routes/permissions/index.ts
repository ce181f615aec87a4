import { APPLICATION_TYPES, type ApplicationType } from '../../../domain/applications.ts';
import { mayHold, PERMISSION_NAMES, PERMISSIONS } from '../../../domain/permissions.ts';
import { type Route, route, type Schema } from '../../route.ts';

const permission: Schema = {
  type: 'object',
  required: ['type', 'description', 'application_types'],
  properties: {
    type: { type: 'string', description: 'Its name, as applications and rules list it.' },
    description: { type: 'string' },
    application_types: { type: 'array', items: { type: 'string', enum: APPLICATION_TYPES } },
  },
};

export function permissionRoutes(): Route[] {
  return [
    route<unknown, { application_type?: ApplicationType }>({
      method: 'get',
      path: '/permissions',
      operationId: 'listPermissions',
      tag: 'Permissions',
      summary: 'List every permission that there is',
      permission: null,
      parameters: [
        {
          name: 'application_type',
          in: 'query',
          description: 'Only those that an application of this type may hold.',
          schema: { type: 'string', enum: APPLICATION_TYPES },
        },
      ],
      responses: { 200: { description: 'The permissions.', schema: { type: 'array', items: permission } } },
      async handle({ query: { application_type: type } }) {
        const names = PERMISSION_NAMES.filter((name) => type === undefined || mayHold(type, name));
        const body = names.map((name) => {
          const { description, applicationTypes } = PERMISSIONS[name];
          return { type: name, description, application_types: [...applicationTypes] };
        });
        return { status: 200, body };
      },
    }),
  ];
}

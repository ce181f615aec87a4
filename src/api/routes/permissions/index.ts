import { APPLICATION_TYPES, type ApplicationType } from '../../../domain/applications.ts';
import { mayHold, PERMISSION_NAMES, PERMISSIONS } from '../../../domain/permissions.ts';
import { type Route, route, type Schema } from '../../route.ts';
import { listOf } from '../../schemas/common.ts';

const permission: Schema = {
  title: 'Permission',
  type: 'object',
  required: ['type', 'description', 'application_types'],
  properties: {
    type: { type: 'string', description: 'Its name, as applications and rules list it.' },
    description: { type: 'string', description: 'What it allows.' },
    application_types: {
      type: 'array',
      items: { type: 'string', enum: APPLICATION_TYPES },
      description: 'Types of applications that may hold it.',
    },
  },
  examples: [
    { type: 'token:read', description: PERMISSIONS['token:read'].description, application_types: ['private'] },
  ],
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
      responses: { 200: { description: 'The permissions.', schema: listOf(permission) } },
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

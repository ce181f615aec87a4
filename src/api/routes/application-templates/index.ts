import { APPLICATION_TEMPLATES } from '../../../domain/application-templates.ts';
import { DomainError } from '../../../domain/errors.ts';
import { type Route, route } from '../../route.ts';
import { listOf, pathId } from '../../schemas/common.ts';
import { presentTemplate } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Application templates';

export function applicationTemplateRoutes(): Route[] {
  return [
    route({
      method: 'get',
      path: '/application-templates',
      operationId: 'listApplicationTemplates',
      tag,
      summary: 'List starter sets of access for new applications',
      permission: null,
      responses: {
        200: { description: 'The templates.', schema: listOf(schema.applicationTemplate) },
      },
      async handle() {
        return { status: 200, body: APPLICATION_TEMPLATES.map(presentTemplate) };
      },
    }),
    route({
      method: 'get',
      path: '/application-templates/{id}',
      operationId: 'getApplicationTemplate',
      tag,
      summary: 'Read a starter set',
      permission: null,
      parameters: [pathId('Id of the template.')],
      responses: { 200: { description: 'The template.', schema: schema.applicationTemplate } },
      async handle({ params }) {
        const id = params['id']!.toLowerCase();
        const template = APPLICATION_TEMPLATES.find((one) => one.id === id);
        if (template === undefined)
          throw new DomainError('not-found', 'There is no application template with this id.');
        return { status: 200, body: presentTemplate(template) };
      },
    }),
  ];
}

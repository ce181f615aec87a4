import { APPLICATION_TEMPLATES, type ApplicationTemplate } from '../../../domain/application-templates.ts';
import { DomainError } from '../../../domain/errors.ts';
import { type Route, route } from '../../route.ts';
import { pathId } from '../../schemas/common.ts';
import * as schema from './schema.ts';

const tag = 'Application templates';

function presentTemplate({ applicationType, ...template }: ApplicationTemplate) {
  // Ours, not a tenant's own, and made to begin with.
  return structuredClone({
    ...template,
    application_type: applicationType,
    template_type: 'official',
    is_starter: true,
  });
}

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
        200: { description: 'The templates.', schema: { type: 'array', items: schema.applicationTemplate } },
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

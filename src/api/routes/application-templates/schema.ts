import { APPLICATION_TEMPLATES } from '../../../domain/application-templates.ts';
import { APPLICATION_TYPES } from '../../../domain/applications.ts';
import type { Schema } from '../../route.ts';
import { uuid } from '../../schemas/common.ts';
import { application } from '../applications/schema.ts';
import { presentTemplate } from './present.ts';

const { permissions, rules } = application['properties'] as Record<string, Schema>;

export const applicationTemplate: Schema = {
  title: 'ApplicationTemplate',
  type: 'object',
  description: 'Together with a `name`, its `type`, `permissions` and `rules` make an application.',
  required: ['id', 'name', 'description', 'application_type', 'template_type', 'is_starter', 'permissions', 'rules'],
  properties: {
    id: { ...uuid, description: 'Id of the template; the same in every release.' },
    name: { type: 'string', description: 'What it is for, in a few words.' },
    description: { type: 'string', description: 'What an application made of it is and may do.' },
    application_type: { type: 'string', enum: APPLICATION_TYPES, description: 'The `type` of such an application.' },
    template_type: { type: 'string', enum: ['official'], description: 'Who made it: `official`, the service.' },
    is_starter: { type: 'boolean', description: 'Whether it is made to begin with.' },
    permissions,
    rules,
  },
  examples: [presentTemplate(APPLICATION_TEMPLATES[0]!)],
};

import { APPLICATION_TYPES } from '../../../domain/applications.ts';
import type { Schema } from '../../route.ts';
import { uuid } from '../../schemas/common.ts';
import { application } from '../applications/schema.ts';

const { permissions, rules } = application['properties'] as Record<string, Schema>;

export const applicationTemplate: Schema = {
  type: 'object',
  description: 'Together with a `name`, its `type`, `permissions` and `rules` make an application.',
  required: ['id', 'name', 'description', 'application_type', 'template_type', 'is_starter', 'permissions', 'rules'],
  properties: {
    id: uuid,
    name: { type: 'string' },
    description: { type: 'string' },
    application_type: { type: 'string', enum: APPLICATION_TYPES },
    template_type: { type: 'string', enum: ['official'] },
    is_starter: { type: 'boolean' },
    permissions,
    rules,
  },
};

import type { Schema } from '../../route.ts';
import { instant, uuid } from '../../schemas/common.ts';

export const applicationKey: Schema = {
  type: 'object',
  required: ['id', 'tenant_id'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    created_by: uuid,
    created_at: instant,
    expires_at: { ...instant, description: 'Present where the key is being rotated out.' },
  },
};

export const createdApplicationKey: Schema = {
  ...applicationKey,
  required: ['id', 'tenant_id', 'key'],
  properties: {
    ...(applicationKey['properties'] as object),
    key: { type: 'string', description: 'The credential. It is not shown again.' },
  },
};

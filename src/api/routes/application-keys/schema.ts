import type { Schema } from '../../route.ts';
import { authorship, instant, uuid } from '../../schemas/common.ts';

const example = {
  id: '0b9f7c1e-3f1d-4c57-8f0e-64d1b0b4a1c2',
  tenant_id: '5d3c9a70-8a3b-4f6e-9b1d-2c7e4f5a6b80',
  created_by: 'e1a7c3d4-52b6-4f8a-9c0d-1e2f3a4b5c6d',
  created_at: '2026-11-21T09:30:00.000Z',
};

const members = {
  id: { ...uuid, description: 'Id of the key.' },
  tenant_id: { ...uuid, description: 'Tenant of the application.' },
  created_by: authorship['created_by'],
  created_at: authorship['created_at'],
};

export const applicationKey: Schema = {
  title: 'ApplicationKey',
  type: 'object',
  required: ['id', 'tenant_id'],
  properties: {
    ...members,
    expires_at: { ...instant, description: 'When it stops working. Present where the key is being rotated out.' },
  },
  examples: [example],
};

export const createdApplicationKey: Schema = {
  title: 'CreatedApplicationKey',
  type: 'object',
  required: ['id', 'tenant_id', 'key'],
  properties: {
    ...members,
    key: { type: 'string', description: 'The credential. It is not shown again.' },
  },
  examples: [{ ...example, key: 'key_prod_pvt_EXAMPLE' }],
};

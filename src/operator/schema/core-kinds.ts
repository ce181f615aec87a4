import type { CoreKind } from '../sources/types.ts';
import type { StructuralSchema } from './structural-schema.ts';

const ENTRY_NAME = /^[-._a-zA-Z0-9]{1,253}$/;

const text: StructuralSchema = { type: 'string' };
const entries: StructuralSchema = { type: 'object', additionalProperties: text };
const envelope = { apiVersion: text, kind: text, metadata: { type: 'object' } } as const satisfies Record<
  string,
  StructuralSchema
>;

/** The shapes of core/v1 kinds that declared resources may refer to or live in, as far as we read them. */
export const CORE_SCHEMAS: Record<CoreKind, StructuralSchema> = {
  ConfigMap: { type: 'object', properties: { ...envelope, data: entries, immutable: { type: 'boolean' } } },
  Secret: {
    type: 'object',
    properties: { ...envelope, type: text, data: entries, stringData: entries, immutable: { type: 'boolean' } },
  },
  Namespace: { type: 'object', properties: { ...envelope, spec: { type: 'object' }, status: { type: 'object' } } },
};

/** Whether Kubernetes takes this as the name of an entry of a ConfigMap or Secret; such a name is safe in a path. */
export function isEntryName(name: string): boolean {
  return ENTRY_NAME.test(name) && !name.startsWith('..') && name !== '.';
}

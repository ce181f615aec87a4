import type { Json } from '../../domain/json.ts';

/** A CEL rule of a schema node (`x-kubernetes-validations`). */
export interface ValidationRule {
  rule: string;
  message: string;
  /** The field at fault, from the node that has the rule: `.scaling.minReplicas`. The node itself where it is left out. */
  fieldPath?: string;
}

/** The part of Kubernetes' structural schemas that our CRDs use. */
export interface StructuralSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  description?: string;
  format?: string;
  default?: Json;
  enum?: Json[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: ValidationRule[];
}

/** The schema of one child of a value: a named member, or any item of a list. */
export function childSchema(schema: StructuralSchema, member: string): StructuralSchema | undefined {
  if (schema.type === 'array') return schema.items;
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, member)) return schema.properties[member];
  return schema.additionalProperties;
}

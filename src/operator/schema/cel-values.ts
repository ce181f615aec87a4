import type { CelInput } from '@bufbuild/cel';
import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import { childSchema } from './structural-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * A JSON value as CEL sees it under its schema: integers are `int`, where JSON knows only doubles; objects and maps are
 * CEL maps.
 */
export function toCelValue(schema: StructuralSchema | undefined, value: Json): CelInput {
  if (typeof value === 'number') {
    return schema?.type === 'integer' && Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => toCelValue(schema?.items, item));
  if (!isJsonObject(value)) return value;
  return new Map(
    Object.entries(value).map(([member, content]) => [
      member,
      toCelValue(schema && childSchema(schema, member), content),
    ]),
  );
}

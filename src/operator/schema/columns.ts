import { jsonpath } from 'json-p3';
import type { CustomResource } from '../sources/types.ts';
import type { PrinterColumn } from './definitions.ts';

/** Values of the columns that `kubectl get` prints without `-o wide`; the age is left to who prints. */
export function printColumns(
  columns: readonly PrinterColumn[],
  { kind, metadata, spec, status }: CustomResource,
): { name: string; value: string }[] {
  const document = JSON.parse(JSON.stringify({ kind, metadata, spec, status })) as Parameters<typeof jsonpath.query>[1];
  return columns
    .filter(({ type, priority = 0 }) => type !== 'date' && priority === 0)
    .map(({ name, jsonPath }) => {
      const value = jsonpath.query(`$${jsonPath}`, document).values()[0];
      return { name, value: typeof value === 'object' || value === undefined ? '' : String(value) };
    });
}

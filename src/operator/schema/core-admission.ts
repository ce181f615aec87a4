import type { JsonObject } from '../../domain/json.ts';
import type { CoreKind } from '../sources/types.ts';
import type { Admission } from './admission.ts';
import { CORE_SCHEMAS, isEntryName } from './core-kinds.ts';
import { createShapeValidator } from './shape.ts';
import type { Violation } from './violation.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Admits a ConfigMap or Secret, whose "spec" is its entries as text, or a Namespace, whose "spec" is empty. */
export function createCoreAdmission(kind: CoreKind): Admission {
  const checkShape = createShapeValidator(CORE_SCHEMAS[kind]);
  return {
    admit(document) {
      const { violations } = checkShape(document);
      if (violations.length > 0) return { violations };
      if (kind === 'Namespace') return { spec: {} };
      const data = (document['data'] ?? {}) as Record<string, string>;
      const stringData = (document['stringData'] ?? {}) as Record<string, string>;
      violations.push(...nameViolations('data', data), ...nameViolations('stringData', stringData));
      if (kind === 'ConfigMap') return violations.length > 0 ? { violations } : { spec: data };
      violations.push(...encodingViolations(data));
      if (violations.length > 0) return { violations };
      const decoded: JsonObject = Object.fromEntries(
        Object.entries(data).map(([entry, value]) => [entry, Buffer.from(value, 'base64').toString('utf8')]),
      );
      return { spec: { ...decoded, ...stringData } };
    },
  };
}

function nameViolations(field: string, entries: Record<string, string>): Violation[] {
  return Object.keys(entries)
    .filter((entry) => !isEntryName(entry))
    .map((entry) => ({ path: [field, entry], message: 'must be named with letters, digits, "-", "_" and "."' }));
}

function encodingViolations(data: Record<string, string>): Violation[] {
  return Object.entries(data)
    .filter(([, value]) => !BASE64.test(value.replaceAll(/\s/g, '')))
    .map(([entry]) => ({ path: ['data', entry], message: 'must be in base64; plain text goes to stringData' }));
}

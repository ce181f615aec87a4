import { isJsonObject } from '../../domain/json.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { isDnsSubdomain } from '../sources/names.ts';
import type { Violation } from './violation.ts';

// Everything that Kubernetes itself writes there is let through, so that an exported resource can be used as it is.
const FIELDS = [
  ...['name', 'generateName', 'namespace', 'labels', 'annotations', 'uid', 'resourceVersion', 'generation'],
  ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
  ...['managedFields', 'ownerReferences', 'finalizers', 'selfLink'],
];

const NAME = /^[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const ANNOTATIONS_BYTES = 256 * 1024;

/** What the API server would not take of an object's metadata, save its name and namespace. */
export function findMetadataViolations(metadata: JsonObject): Violation[] {
  const unknown = Object.keys(metadata)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => ({ path: ['metadata', field], message: 'is not a known field' }));
  return [...unknown, ...labelViolations(metadata['labels']), ...annotationViolations(metadata['annotations'])];
}

function labelViolations(labels: Json | undefined): Violation[] {
  return textMapViolations('labels', labels, (value) =>
    value === '' || NAME.test(value) ? undefined : 'must be up to 63 letters, digits, "-", "_" and "."',
  );
}

function annotationViolations(annotations: Json | undefined): Violation[] {
  const violations = textMapViolations('annotations', annotations, () => undefined);
  const size = Object.entries(annotations ?? {}).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (size <= ANNOTATIONS_BYTES) return violations;
  return [...violations, { path: ['metadata', 'annotations'], message: 'must not hold more than 256 KiB' }];
}

function textMapViolations(
  field: string,
  values: Json | undefined,
  faultOf: (value: string) => string | undefined,
): Violation[] {
  if (values === undefined || values === null) return [];
  if (!isJsonObject(values)) return [{ path: ['metadata', field], message: 'must be an object' }];
  return Object.entries(values).flatMap(([key, value]) => {
    const path = ['metadata', field, key];
    // The API server reads null as an empty text.
    const fault = typeof value === 'string' ? faultOf(value) : value === null ? undefined : 'must be a string';
    const misnamed = isLabelKey(field === 'annotations' ? key.toLowerCase() : key) ? [] : [{ path, message: MISNAMED }];
    return [...misnamed, ...(fault === undefined ? [] : [{ path, message: fault }])];
  });
}

const MISNAMED = 'must be named as labels are: letters, digits, "-", "_" and ".", after a DNS name and "/" or without';

function isLabelKey(key: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').reverse();
  return more.length === 0 && NAME.test(name) && (prefix === undefined || isDnsSubdomain(prefix));
}

import type { JsonObject } from '../../../src/domain/json.ts';

const LONGEST = 'a'.repeat(63);
const TOO_LONG = 'a'.repeat(64);

const names = ['a', 'A', 'a.b', 'a_b', '-a', LONGEST, TOO_LONG, '', null];

const labelKeys = [
  ...['', 'a b', 'x/y', 'x/y/z', 'X.io/y', '/y', 'x/', 'x..y/z', '-x/y', '_y', 'y_', LONGEST, TOO_LONG],
  ...[`${'a.'.repeat(126)}a/b`, `${'a.'.repeat(127)}a/b`],
];
const labelValues = ['', 'b c', '-b', 'b-', 'b_c.d-E', LONGEST, TOO_LONG, null, 1, true, {}];

/** Metadata that Kubernetes takes, and that it does not. */
export const METADATA_CASES: JsonObject[] = [
  ...names.map((name) => ({ name })),
  {},
  ...[null, ''].map((namespace) => ({ name: 'a', namespace })),
  ...[null, {}, [], 'text', 7].flatMap((values) => [
    { name: 'a', labels: values },
    { name: 'a', annotations: values },
  ]),
  ...labelKeys.flatMap((key) => [
    { name: 'a', labels: { [key]: 'x' } },
    { name: 'a', annotations: { [key]: 'x y\n' } },
  ]),
  ...labelValues.map((value) => ({ name: 'a', labels: { a: value } })),
  ...[1, null, true].map((value) => ({ name: 'a', annotations: { a: value } })),
  ...[262_143, 262_144].map((size) => ({ name: 'a', annotations: { a: 'x'.repeat(size) } })),
  ...['uid', 'creationTimestamp', 'finalizers', 'owner', 'clusterName'].map((field) => ({ name: 'a', [field]: null })),
  { name: 'a', uid: 'x', generation: 3, managedFields: [], ownerReferences: [] },
];

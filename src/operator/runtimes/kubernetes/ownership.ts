import { isJsonObject } from '../../../domain/json.ts';
import { FIELD_MANAGER } from '../../../platform/kubernetes/client.ts';
import type { ManagedFields, ObservedPart, OwnedFields } from './objects.ts';

/** What is applied, or as much of it as says which fields there are: values do not matter here. */
export type Applied = { readonly metadata: object } & Readonly<Record<string, unknown>>;

/** Our changes of the scale are booked apart, and so is what the cluster itself writes of its status. */
const ofObject = ({ subresource }: ManagedFields): boolean => subresource === undefined || subresource === '';

/**
 * Whether somebody has changed or taken away a field that we apply, as the API server books it: what another one
 * changes is no longer ours. So nothing needs to be kept of what was applied, nor values to be compared that the API
 * server writes in its own way.
 */
export function isEdited(applied: Applied, { metadata: { managedFields = [] } }: ObservedPart): boolean {
  const owned = (isOurs: boolean) =>
    managedFields
      .filter((each) => ofObject(each) && (each.manager === FIELD_MANAGER) === isOurs)
      .flatMap(({ fieldsV1 }) => fieldsV1 ?? []);
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = applied;
  const { name: _name, ...described } = metadata as Record<string, unknown>;
  return !isOwned({ ...content, metadata: described }, owned(true), owned(false));
}

/**
 * Fields that are set as a whole, as the definitions of their kinds say (`atomic`). They have to be told: an empty set
 * of fields also stands where all that was ours is gone.
 */
const ATOMIC = new Set([
  ...['configMapKeyRef', 'fieldRef', 'resourceFieldRef', 'secretKeyRef'],
  ...['args', 'drop', 'egress', 'ingress', 'labelSelector', 'podSelector', 'policyTypes', 'selector', 'triggers'],
]);

/** Whether one of `ours` owns a field and all that is in it. Each is what one manager owns at its place. */
function isOwned(
  value: unknown,
  ours: readonly OwnedFields[],
  others: readonly OwnedFields[],
  name: string | undefined = undefined,
): boolean {
  // An empty list may be nobody's.
  if (Array.isArray(value) && value.length === 0 && others.length === 0) return true;
  if (ours.length === 0) return false;
  if (typeof value !== 'object' || value === null || (name !== undefined && ATOMIC.has(name))) return true;
  const at = (all: readonly OwnedFields[], key: string) => all.flatMap((fields) => fields[key] ?? []);
  if (Array.isArray(value)) {
    return value.every((item: unknown) => {
      const keys = new Set(ours.flatMap(Object.keys).filter((key) => isKeyOf(key, item)));
      return [...keys].some((key) => isOwned(item, at(ours, key), at(others, key)));
    });
  }
  return Object.entries(value).every(([member, content]) =>
    isOwned(content, at(ours, `f:${member}`), at(others, `f:${member}`), member),
  );
}

/**
 * Fields that others have added to `spec` beside those that we apply, as the merge patch (RFC 7386) that takes them out
 * again; undefined where there are none. A list that is not as we apply it is given as a whole.
 */
export function surplusOf(applied: Applied, { metadata: { managedFields = [] } }: ObservedPart): object | undefined {
  if (applied['spec'] === undefined) return undefined;
  const patches = managedFields
    .filter((each) => ofObject(each) && each.manager !== FIELD_MANAGER)
    .map(({ fieldsV1 }) => surplus({ spec: applied['spec'] }, { 'f:spec': fieldsV1?.['f:spec'] ?? {} }, ''));
  return patches.reduce(merge, undefined);
}

/** The scale is the business of others, and `kubectl rollout restart` leaves a note in the template. */
const LET_BE = new Set(['.spec.replicas', '.spec.template.metadata.annotations']);

type Patch = Record<string, unknown>;

function surplus(applied: unknown, fields: OwnedFields, path: string): Patch | undefined {
  const patch: Patch = {};
  for (const [field, below] of Object.entries(fields)) {
    if (!field.startsWith('f:')) continue;
    const name = field.slice('f:'.length);
    const member = (applied as Patch)[name];
    const at = `${path}.${name}`;
    if (LET_BE.has(at)) continue;
    if (member === undefined) patch[name] = null;
    else if (Array.isArray(member)) {
      if (hasSurplusItems(member, below)) patch[name] = member;
    } else if (typeof member === 'object' && member !== null) {
      const inner = surplus(member, below, at);
      if (inner !== undefined) patch[name] = inner;
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function hasSurplusItems(items: readonly unknown[], fields: OwnedFields): boolean {
  return Object.entries(fields).some(([key, below]) => {
    if (key === '.') return false;
    const item = items.find((each) => isKeyOf(key, each));
    return item === undefined || (typeof item === 'object' && surplus(item, below, '') !== undefined);
  });
}

/** Whether a key of `fieldsV1` names this item of a list: by the members that tell items apart, or by its value. */
function isKeyOf(key: string, item: unknown): boolean {
  const text = key.slice('k:'.length);
  if (key.startsWith('v:')) return JSON.stringify(item) === text;
  if (!key.startsWith('k:') || typeof item !== 'object' || item === null) return false;
  const members = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return members.every(([name, value]) => (item as Record<string, unknown>)[name] === value);
}

function merge(one: Patch | undefined, other: Patch | undefined): Patch | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const merged: Patch = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const both = isJsonObject(value) && isJsonObject(merged[name]);
    merged[name] = both ? merge(merged[name] as Patch, value) : value;
  }
  return merged;
}

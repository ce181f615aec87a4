import { isDeepStrictEqual } from 'node:util';
import { entryText, textsIn } from '../entry-text.ts';
import { KEY_DIGEST_ANNOTATION, OWNER_LABEL } from '../secret-marks.ts';
import type { ObjectRef, OwnedSecret, ReferentEntries, ResourceKind, StoredSecret } from '../types.ts';
import { API_VERSION, GROUP } from './objects.ts';
import type { OwnerReference, SecretObject } from './objects.ts';

/** What a Secret of ours is written over: of its metadata, never of its values. */
export interface SecretVersion {
  uid: string;
  resourceVersion: string;
  ownerReferences: readonly OwnerReference[];
}

// As the Service Binding specification names it. Kubernetes lets nobody change it later.
const SECRET_TYPE = 'servicebinding.io/tokenkeep';
const OUR_ANNOTATIONS = `${GROUP}/`;

/**
 * The Secret as ours, or `'foreign'`. It belongs to the Application that controls it. Where nothing controls it, as
 * under the deletion policy Retain, label and annotation tell. The name decides and not the uid: a namespace that was
 * restored from a backup has the same Secrets under Applications that were made anew.
 */
export function readSecret(namespace: string, object: SecretObject): StoredSecret | 'foreign' {
  const { name, uid, resourceVersion, labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  const controller = ownerReferences.find((reference) => reference.controller === true);
  const owner =
    controller === undefined ? markedOwner(namespace, labels, annotations) : controllingOwner(namespace, controller);
  if (owner === undefined) return 'foreign';
  const version: SecretVersion = { uid, resourceVersion, ownerReferences };
  return {
    ...{ namespace, name, owner, labels, annotations, data: textsIn(decode(object.data)) },
    isRetained: controller === undefined,
    isImmutable: object.immutable === true,
    version,
  };
}

/** The object to create. */
export function buildSecretObject(secret: OwnedSecret, ownerUid: string): object {
  const { namespace, name, labels, annotations, data } = secret;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: SECRET_TYPE,
    metadata: { namespace, name, labels, annotations, ownerReferences: ownerReferencesOf(secret, ownerUid, []) },
    data: encode(data),
  };
}

/**
 * The merge patch that makes of the Secret what it should be, undefined where it is. Labels, annotations, entries and
 * owners that others put there stay.
 */
export function buildSecretPatch(secret: OwnedSecret, before: StoredSecret, ownerUid: string): object | undefined {
  const { resourceVersion, ownerReferences } = before.version as SecretVersion;
  const wantedReferences = ownerReferencesOf(secret, ownerUid, ownerReferences);
  const outdated = Object.keys(before.annotations).filter(
    (key) => key.startsWith(OUR_ANNOTATIONS) && !Object.hasOwn(secret.annotations, key),
  );
  const labels = differing(secret.labels, before.labels);
  const annotations = {
    ...differing(secret.annotations, before.annotations),
    ...Object.fromEntries(outdated.map((key) => [key, null])),
  };
  const data = encode(differing(secret.data, before.data));
  const hasOwners = isDeepStrictEqual(wantedReferences, ownerReferences);
  const isSame = [labels, annotations, data].every((changes) => Object.keys(changes).length === 0) && hasOwners;
  if (isSame) return undefined;
  const metadata = {
    resourceVersion,
    labels,
    annotations,
    ...(hasOwners ? {} : { ownerReferences: wantedReferences }),
  };
  return { metadata, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

export function decode(data: Record<string, string> = {}): ReferentEntries {
  return mapValues(data, (value) => entryText(Buffer.from(value, 'base64')));
}

function encode(data: Record<string, string>): Record<string, string> {
  return mapValues(data, (value) => Buffer.from(value, 'utf8').toString('base64'));
}

function mapValues<Value>(record: Record<string, string>, map: (value: string) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function differing(wanted: Record<string, string>, present: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => present[key] !== value));
}

function controllingOwner(
  namespace: string,
  { apiVersion, kind, name }: OwnerReference,
): ObjectRef<ResourceKind> | undefined {
  const isOfOurs = apiVersion.startsWith(`${GROUP}/`) && kind === 'Application';
  return isOfOurs ? { kind: 'Application', namespace, name } : undefined;
}

function markedOwner(
  namespace: string,
  labels: Record<string, string>,
  annotations: Record<string, string>,
): ObjectRef<ResourceKind> | undefined {
  const name = labels[OWNER_LABEL];
  if (name === undefined || annotations[KEY_DIGEST_ANNOTATION] === undefined) return undefined;
  return { kind: 'Application', namespace, name };
}

function ownerReferencesOf(
  { owner, isRetained }: OwnedSecret,
  ownerUid: string,
  present: readonly OwnerReference[],
): OwnerReference[] {
  const isOwner = (reference: OwnerReference) => reference.uid === ownerUid || reference.controller === true;
  const others = present.filter((reference) => !isOwner(reference));
  if (isRetained) return others;
  const { kind, name } = owner;
  // Without blockOwnerDeletion, which needs a right over finalizers where that admission plugin is on: ours holds anyway.
  const ours = { apiVersion: API_VERSION, kind, name, uid: ownerUid, controller: true };
  const current = present.find(isOwner);
  // In the place and order in which the API server answers it, so that what is right is found to be the same.
  return current !== undefined && isDeepStrictEqual({ ...current }, ours) ? [...present] : [...others, ours];
}

import { isDeepStrictEqual } from 'node:util';
import { v5 as uuidv5 } from 'uuid';
import { digestOfKey, generateApplicationKey, isPlausibleApplicationKey } from '../domain/application-keys.ts';
import type { DeclaredKey } from '../domain/declarations.ts';
import { stalled, waiting } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import { KEY_ENTRY, keyAnnotations, planKey } from './key-plan.ts';
import type { KeyPlan, KeyRecord } from './key-plan.ts';
import type { ApplicationResource } from './kinds/application.ts';
import { refOf } from './kinds/resources.ts';
import { refKey, renderRef } from './object-ref.ts';
import type { Placement } from './placement.ts';
import type { ReconcileContext } from './reconcilers/types.ts';
import type { OwnedSecret } from './sources/types.ts';

/** The keys to declare for an application, or why there are none. */
export type ProvidedKeys = { keys: DeclaredKey[]; nextChangeAtMs?: number; outcome?: never } | { outcome: Outcome };

type KeyContext = Pick<ReconcileContext, 'source' | 'clock' | 'publicBaseUrl'>;

/** The Secret that the operator writes for an application; undefined where the key is brought. */
export function secretNameOf({ metadata, spec }: ApplicationResource): string | undefined {
  if (spec.key.fromSecret !== undefined) return undefined;
  return spec.key.secretName ?? `${metadata.name}-api-key`;
}

/**
 * Makes sure that the application's Secret holds a key, and answers the digests that the API is to take.
 *
 * The Secret is written before the API hears of its key: a crash between the two repeats without an orphan, and the
 * value never leaves the Secret.
 */
export async function provideKeys(
  context: KeyContext,
  application: ApplicationResource,
  place: Placement,
): Promise<ProvidedKeys> {
  const secretName = secretNameOf(application);
  if (secretName === undefined) return readBroughtKey(context, application, place.id);

  const { source, clock } = context;
  const { namespace } = application.metadata;
  const secret = await source.readOwnedSecret(namespace, secretName);
  if (secret === 'foreign') {
    return { outcome: stalled('SecretNotOurs', `Secret ${secretName} exists and was not made by the operator`) };
  }
  if (secret !== undefined && refKey(secret.owner) !== refKey(refOf(application))) {
    return { outcome: stalled('SecretNotOurs', `Secret ${secretName} belongs to ${renderRef(secret.owner)}`) };
  }

  const plan = planKey(secret, application.spec.key, clock.now());
  const { record, value } = carryOut(plan, secret, application, place, clock.now());
  const wanted = buildSecret(application, secretName, record, value, context.publicBaseUrl);
  // One that is as it should be is left alone: it may be deleted at this moment, and must not come back with the old key.
  if (!isDeepStrictEqual(secret, wanted)) await source.writeOwnedSecret(wanted);
  if (plan.action === 'make') {
    const message = `${plan.why} the key in Secret ${secretName}`;
    source.recordEvent(refOf<'Application'>(application), { type: 'Normal', reason: `Key${plan.why}`, message });
  }
  const nextChangeAtMs = plan.action === 'keep' ? plan.nextChangeAtMs : clock.now();
  return { keys: declaredKeys(place.id, record), ...(nextChangeAtMs === undefined ? {} : { nextChangeAtMs }) };
}

function carryOut(
  plan: KeyPlan,
  secret: OwnedSecret | undefined,
  application: ApplicationResource,
  { tenant }: Placement,
  nowMs: number,
): { record: KeyRecord; value: string } {
  if (plan.action === 'keep') return { record: plan.record, value: secret?.data[KEY_ENTRY] ?? '' };
  const value = generateApplicationKey(tenant.type, application.spec.type);
  const record = { digest: digestOfKey(value), createdAtMs: nowMs };
  return { record: plan.previous === undefined ? record : { ...record, previous: plan.previous }, value };
}

function buildSecret(
  application: ApplicationResource,
  name: string,
  record: KeyRecord,
  value: string,
  baseUrl: string,
): OwnedSecret {
  return {
    namespace: application.metadata.namespace,
    name,
    owner: refOf<'Application'>(application),
    labels: {
      'app.kubernetes.io/managed-by': 'tokenkeep',
      'tokenkeep.dev/application': application.metadata.name,
    },
    annotations: keyAnnotations(record),
    data: { [KEY_ENTRY]: value, 'base-url': baseUrl },
  };
}

async function readBroughtKey(
  { source }: KeyContext,
  { metadata, spec }: ApplicationResource,
  applicationId: string,
): Promise<ProvidedKeys> {
  const { name, key } = spec.key.fromSecret!;
  const entries = await source.readReferent({ kind: 'Secret', namespace: metadata.namespace, name });
  const value = entries !== undefined && Object.hasOwn(entries, key) ? entries[key]?.trim() : undefined;
  if (value === undefined) {
    return { outcome: waiting('SecretEntryNotFound', `Waits for entry ${key} of Secret ${name}`) };
  }
  if (!isPlausibleApplicationKey(value)) {
    const message = `Entry ${key} of Secret ${name} is no application key: its form or checksum is wrong`;
    return { outcome: stalled('KeyNotUsable', message) };
  }
  return { keys: [declaredKey(applicationId, digestOfKey(value))] };
}

function declaredKeys(applicationId: string, { digest, previous }: KeyRecord): DeclaredKey[] {
  const current = declaredKey(applicationId, digest);
  if (previous === undefined) return [current];
  const expiresAt = new Date(previous.expiresAtMs).toISOString();
  return [current, { ...declaredKey(applicationId, previous.digest), expiresAt }];
}

function declaredKey(applicationId: string, digest: string): DeclaredKey {
  return { id: uuidv5(digest, applicationId), digest };
}

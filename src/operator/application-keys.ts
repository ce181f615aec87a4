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
import { readEntry } from './referent-entry.ts';
import type { ReconcileContext } from './reconcilers/types.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, OWNER_LABEL } from './sources/secret-marks.ts';
import { NamespaceTerminatingError } from './sources/errors.ts';
import type { OwnedSecret, StoredSecret } from './sources/types.ts';

/** The keys to declare for an application, or why there are none. */
export type ProvidedKeys = { keys: DeclaredKey[]; nextChangeAtMs?: number; outcome?: never } | { outcome: Outcome };

type KeyContext = Pick<ReconcileContext, 'source' | 'clock' | 'publicBaseUrl'>;

// What the Service Binding specification asks of every Secret that workloads are bound to.
const BINDING_ENTRIES = { type: 'tokenkeep', provider: 'tokenkeep' };

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
  const found = await findSecret(source, application, secretName);
  if (found.outcome !== undefined) return found;
  const { secret } = found;

  const plan = planKey(secret, application.spec.key, clock.now());
  const { record, value } = carryOut(plan, secret, application, place, clock.now());
  const wanted = buildSecret(application, secretName, record, value, context.publicBaseUrl);
  if (secret?.isImmutable && Object.entries(wanted.data).some(([entry, text]) => secret.data[entry] !== text)) {
    const message = `Secret ${secretName} is immutable and out of date: delete it, and another key is made`;
    return { outcome: stalled('SecretImmutable', message) };
  }
  try {
    await source.writeOwnedSecret(wanted, secret);
  } catch (error) {
    if (error instanceof NamespaceTerminatingError) return { outcome: waiting('NamespaceTerminating', error.message) };
    throw error;
  }
  if (plan.action === 'make') {
    const message = `${plan.why} the key in Secret ${secretName}`;
    source.recordEvent(refOf<'Application'>(application), { type: 'Normal', reason: `Key${plan.why}`, message });
  }
  const nextChangeAtMs = plan.action === 'keep' ? plan.nextChangeAtMs : clock.now();
  return { keys: declaredKeys(place.id, record), ...(nextChangeAtMs === undefined ? {} : { nextChangeAtMs }) };
}

/** The Secret as it is, which may be none yet, or why the application cannot have it. */
export async function findSecret(
  source: KeyContext['source'],
  application: ApplicationResource,
  secretName: string,
): Promise<{ secret: StoredSecret | undefined; outcome?: never } | { outcome: Outcome }> {
  const secret = await source.readOwnedSecret(application.metadata.namespace, secretName);
  if (secret === 'foreign') {
    return { outcome: stalled('SecretNotOurs', `Secret ${secretName} exists and was not made by the operator`) };
  }
  if (secret !== undefined && refKey(secret.owner) !== refKey(refOf(application))) {
    return { outcome: stalled('SecretNotOurs', `Secret ${secretName} belongs to ${renderRef(secret.owner)}`) };
  }
  return { secret };
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
      [MANAGED_BY_LABEL]: MANAGED_BY,
      [OWNER_LABEL]: application.metadata.name,
    },
    annotations: keyAnnotations(record),
    data: { [KEY_ENTRY]: value, 'base-url': baseUrl, ...BINDING_ENTRIES },
    isRetained: application.spec.deletionPolicy === 'Retain',
  };
}

async function readBroughtKey(
  { source }: KeyContext,
  { metadata, spec }: ApplicationResource,
  applicationId: string,
): Promise<ProvidedKeys> {
  const { name, key } = spec.key.fromSecret!;
  const entry = await readEntry(source, { kind: 'Secret', namespace: metadata.namespace, name }, key);
  if (entry.outcome !== undefined) return entry;
  const value = entry.part.trim();
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

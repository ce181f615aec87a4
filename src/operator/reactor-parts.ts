import { lengthOf, REACTOR_LIMITS } from '../domain/reactors.ts';
import { stalled, waiting } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import type { ReactorParts } from './declarations/reactor.ts';
import { isDeleting, isReady } from './kinds/resources.ts';
import type { ReactorResource } from './kinds/reactor.ts';
import { entryNotText, readEntry } from './referent-entry.ts';
import type { ReconcileContext } from './reconcilers/types.ts';
import type { ObjectRef } from './sources/types.ts';

type Found<Part> = { part: Part; outcome?: never } | { outcome: Outcome };
type PartsContext = Pick<ReconcileContext, 'source' | 'store'>;

/** Looks up everything that a Reactor refers to, or tells what it waits for. */
export async function gatherReactorParts(
  context: PartsContext,
  reactor: ReactorResource,
): Promise<Found<ReactorParts>> {
  const code = await findCode(context, reactor);
  if (code.outcome !== undefined) return code;
  const configuration = await gatherConfiguration(context, reactor);
  if (configuration.outcome !== undefined) return configuration;
  const application = findApplicationId(context, reactor);
  if (application.outcome !== undefined) return application;
  const applicationId = application.part;
  return {
    part: {
      code: code.part,
      configuration: configuration.part,
      ...(applicationId === undefined ? {} : { applicationId }),
    },
  };
}

async function findCode({ source }: PartsContext, { metadata, spec }: ReactorResource): Promise<Found<string>> {
  if (spec.codeFrom === undefined) return { part: spec.code ?? '' };
  const { name, key } = spec.codeFrom.configMap;
  const code = await readEntry(source, { kind: 'ConfigMap', namespace: metadata.namespace, name }, key);
  const { codeLength } = REACTOR_LIMITS;
  if (code.outcome === undefined && lengthOf(code.part) > codeLength) {
    return { outcome: stalled('CodeRefused', `Entry ${key} of ConfigMap ${name} is longer than ${codeLength}`) };
  }
  return code;
}

async function gatherConfiguration(
  { source }: PartsContext,
  { metadata, spec }: ReactorResource,
): Promise<Found<Record<string, string>>> {
  const gathered = new Map<string, string>();
  /** Entries that are not text, by the Secret that they are in; one that something goes before is not used. */
  const notText = new Map<string, ObjectRef<'Secret'>>();
  for (const { secret } of spec.configurationFrom) {
    const ref = { kind: 'Secret', namespace: metadata.namespace, name: secret.name } as const;
    const entries = await source.readReferent(ref);
    if (entries === undefined) {
      return { outcome: waiting('SecretEntryNotFound', `Waits for Secret ${secret.name}`) };
    }
    for (const [entry, value] of Object.entries(entries)) {
      gathered.set(entry, value ?? '');
      if (value === null) notText.set(entry, ref);
      else notText.delete(entry);
    }
  }
  for (const [entry, value] of Object.entries(spec.configuration)) {
    gathered.set(entry, value);
    notText.delete(entry);
  }
  const [unusable] = notText;
  if (unusable !== undefined) return { outcome: entryNotText(unusable[1], unusable[0]) };
  const { configurationEntries, configurationValueLength } = REACTOR_LIMITS;
  if (gathered.size > configurationEntries) {
    const message = `configuration and configurationFrom have ${gathered.size} entries, of at most ${configurationEntries}`;
    return { outcome: stalled('ConfigurationTooLarge', message) };
  }
  for (const [entry, value] of gathered) {
    if (lengthOf(value) <= configurationValueLength) continue;
    const message = `Entry ${entry} of the configuration is longer than ${configurationValueLength}`;
    return { outcome: stalled('ConfigurationTooLarge', message) };
  }
  return { part: Object.fromEntries(gathered) };
}

function findApplicationId({ store }: PartsContext, { metadata, spec }: ReactorResource): Found<string | undefined> {
  if (spec.applicationRef === undefined) return { part: undefined };
  const { name } = spec.applicationRef;
  const application = store.get('Application', metadata.namespace, name);
  if (application === undefined || isDeleting(application)) {
    return { outcome: waiting('ApplicationNotFound', `Waits for Application ${name}`) };
  }
  if (application.spec.type === 'management') {
    return { outcome: stalled('PermissionNotAllowed', `Application ${name} is a management application`) };
  }
  if (!isReady(application) || application.status?.id === undefined) {
    return { outcome: waiting('ApplicationNotReady', `Waits for Application ${name} to be ready`) };
  }
  return { part: application.status.id };
}

import { stalled, waiting } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import type { ObjectRef, ReferentKind, ResourceSource } from './sources/types.ts';

/** The text of one entry of a ConfigMap or Secret, or why a resource that refers to it cannot have it. */
export async function readEntry(
  source: Pick<ResourceSource, 'readReferent'>,
  ref: ObjectRef<ReferentKind>,
  entry: string,
): Promise<{ part: string; outcome?: never } | { outcome: Outcome }> {
  const entries = (await source.readReferent(ref)) ?? {};
  const text = Object.hasOwn(entries, entry) ? entries[entry] : undefined;
  if (text === undefined) {
    const message = `Waits for entry ${entry} of ${ref.kind} ${ref.name}`;
    return { outcome: waiting(`${ref.kind}EntryNotFound`, message) };
  }
  return text === null ? { outcome: entryNotText(ref, entry) } : { part: text };
}

export function entryNotText({ kind, name }: Pick<ObjectRef<ReferentKind>, 'kind' | 'name'>, entry: string): Outcome {
  return stalled('EntryNotText', `Entry ${entry} of ${kind} ${name} holds something else than UTF-8 text`);
}

import type { JsonObject } from '../../../domain/json.ts';
import type { RefusedDocument } from '../../../domain/resource-status.ts';
import type { Admission } from '../../schema/admission.ts';
import type { CoreKind, ObjectRef, ResourceKind } from '../types.ts';
import { refKey, renderRef } from '../../object-ref.ts';
import type { Manifest, ManifestDocument } from './manifest.ts';
import type { FolderContent } from './manifest-files.ts';

/** An object in force: the last version of its document that was accepted. */
export interface InventoryEntry {
  ref: ObjectRef<ResourceKind | CoreKind>;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** The spec with defaults; of a ConfigMap or Secret its decoded entries, of a Namespace nothing. Undefined where a restart forgot it. */
  spec: JsonObject | undefined;
  file: string;
  /** What it was made of, to know an unchanged document again. */
  manifest?: Manifest;
}

/** Everything in force, by key, and every document that is not. */
export interface Inventory {
  entries: Map<string, InventoryEntry>;
  refused: RefusedDocument[];
}

export type AdmissionByKind = Record<ResourceKind | CoreKind, Admission>;

/**
 * What is in force after the folder changed.
 *
 * A refused document leaves the version before it in force. So does a document that cannot be read for every object of
 * its file that stands nowhere else, since any of them may be what the document was meant to be. What has gone from
 * a readable file is gone. Of two documents for one object, the one in force stays, else the first one counts.
 */
export function takeInventory(content: FolderContent, before: Inventory, admissions: AdmissionByKind): Inventory {
  const entries = new Map<string, InventoryEntry>();
  const refused: RefusedDocument[] = [];
  const refuse = (document: ManifestDocument, reasons: RefusedDocument['reasons']) =>
    refused.push({ file: document.file, line: document.line, ...subjectOf(document), reasons });

  const holders = holdersOf(content.documents, before);
  for (const document of content.documents) {
    const { manifest } = document;
    if (manifest === undefined) {
      refuse(document, document.reasons);
      continue;
    }
    const key = refKey(manifest.ref);
    const holder = holders.get(key)!;
    if (holder !== document) {
      const message = `is already declared at ${holder.file}:${holder.line}`;
      refuse(document, [...document.reasons, { line: document.line, path: '', message }]);
      continue;
    }
    const previous = before.entries.get(key);
    const verdict = admitDocument(document, manifest, previous, admissions);
    if ('entry' in verdict) {
      entries.set(key, verdict.entry);
    } else {
      refuse(document, verdict.reasons);
      if (previous !== undefined) entries.set(key, { ...previous, file: document.file });
    }
  }
  for (const [key, entry] of before.entries) {
    if (!holders.has(key) && mayStillBeMeant(entry, content)) entries.set(key, entry);
  }
  return { entries, refused };
}

function holdersOf(documents: readonly ManifestDocument[], before: Inventory): Map<string, ManifestDocument> {
  const holders = new Map<string, ManifestDocument>();
  for (const document of documents) {
    if (document.manifest === undefined) continue;
    const key = refKey(document.manifest.ref);
    const holder = holders.get(key);
    const home = before.entries.get(key)?.file;
    if (holder === undefined || (document.file === home && holder.file !== home)) holders.set(key, document);
  }
  return holders;
}

function admitDocument(
  document: ManifestDocument,
  manifest: Manifest,
  previous: InventoryEntry | undefined,
  admissions: AdmissionByKind,
): { entry: InventoryEntry } | { reasons: RefusedDocument['reasons'] } {
  if (previous?.manifest === manifest) return { entry: previous };
  const verdict = admissions[manifest.ref.kind].admit(manifest.content, previous?.spec);
  const reasons = [...document.reasons, ...document.reasonsOf(verdict.violations ?? [])];
  if (reasons.length > 0 || verdict.violations !== undefined) return { reasons };
  const { ref, labels, annotations } = manifest;
  return { entry: { ref, labels, annotations, spec: verdict.spec, file: document.file, manifest } };
}

function mayStillBeMeant(entry: InventoryEntry, { documents, unreadable }: FolderContent): boolean {
  const isUnlisted = unreadable.some((folder) => folder === '' || entry.file.startsWith(`${folder}/`));
  return isUnlisted || documents.some((document) => document.file === entry.file && document.manifest === undefined);
}

function subjectOf({ manifest }: ManifestDocument): { subject?: string } {
  return manifest === undefined ? {} : { subject: renderRef(manifest.ref) };
}

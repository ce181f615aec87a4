import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject } from '../../domain/json.ts';
import type { Logger } from '../../platform/logger.ts';
import { systemTimers } from '../timers.ts';
import type { Timers } from '../timers.ts';
import { refKey } from '../object-ref.ts';
import { createAdmission } from '../schema/admission.ts';
import { createCoreAdmission } from '../schema/core-admission.ts';
import { printColumns } from '../schema/columns.ts';
import { CRDS_DIR, loadDefinitions } from '../schema/definitions.ts';
import type { PrinterColumn, ResourceDefinition } from '../schema/definitions.ts';
import { logEvent } from './event-log.ts';
import { takeInventory } from './folder/inventory.ts';
import type { AdmissionByKind, Inventory, InventoryEntry } from './folder/inventory.ts';
import { createManifestFiles } from './folder/manifest-files.ts';
import type { FolderContent, ManifestFiles } from './folder/manifest-files.ts';
import { createRecords, toResource } from './folder/records.ts';
import type { Records } from './folder/records.ts';
import { createRefusalLog } from './folder/refusal-log.ts';
import { createSecretFiles } from './folder/secret-files.ts';
import type { SecretFiles } from './folder/secret-files.ts';
import { createSecretWatch } from './folder/secret-watch.ts';
import type { SecretWatch } from './folder/secret-watch.ts';
import { createStatusFile } from './folder/status-file.ts';
import type { ResourceRecord, StatusFile } from './folder/status-file.ts';
import { watchTree } from './folder/tree-watcher.ts';
import type { TreeWatcher } from './folder/tree-watcher.ts';
import type {
  CoreKind,
  ObjectRef,
  OwnedSecret,
  ReferentKind,
  ResourceEvent,
  ResourceKind,
  ResourceListener,
  ResourceSource,
  ResourceStatus,
  StoredSecret,
} from './types.ts';

export interface FolderSourceOptions {
  /** Folder of YAML files, read and watched with its sub-folders. */
  manifestsDir: string;
  /** Where `status.json` and `secrets/` go. */
  dataDir: string;
  logger: Logger;
  clock?: Timers;
  /** Folder of the CRD files that are enforced; the ones of this package unless told. */
  crdsDir?: string;
}

// The API server puts it on every Namespace, so that a selector can name one.
const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

// A document that is missing may be on its way: editors, git and copies remove before they write.
const REMOVAL_GRACE_MS = 400;

/**
 * Custom resources from a folder of YAML files. Changes take effect within a second.
 *
 * A document that is refused leaves its last accepted version in force until it is mended, or gone; a file that cannot
 * be parsed does so for all that it held. Status goes to `<data-dir>/status.json`, Secrets to `<data-dir>/secrets`.
 */
export function createFolderSource(options: FolderSourceOptions): ResourceSource {
  return new FolderSource(options);
}

class FolderSource implements ResourceSource {
  readonly hasImplicitNamespaces = true;
  readonly #options: FolderSourceOptions;
  readonly #clock: Timers;
  readonly #records: Records;
  readonly #statusFile: StatusFile;
  readonly #secrets: SecretFiles;
  readonly #secretsDir: string;
  readonly #logRefusals: (refused: Inventory['refused']) => void;
  readonly #watchers: TreeWatcher[] = [];
  readonly #missingSince = new Map<string, number>();
  #inventory: Inventory = { entries: new Map(), refused: [] };
  #content: FolderContent = { documents: [], unreadable: [] };
  #columns = new Map<string, PrinterColumn[]>();
  #listener: ResourceListener | undefined;
  #secretWatch: SecretWatch | undefined;

  constructor(options: FolderSourceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemTimers;
    this.#records = createRecords(this.#clock);
    this.#statusFile = createStatusFile(options.dataDir, () => this.#renderStatus());
    this.#secretsDir = path.join(options.dataDir, 'secrets');
    this.#secrets = createSecretFiles(this.#secretsDir);
    this.#logRefusals = createRefusalLog(options.logger);
  }

  async start(listener: ResourceListener): Promise<void> {
    const { manifestsDir, dataDir, crdsDir = CRDS_DIR } = this.#options;
    await mkdir(this.#secretsDir, { recursive: true, mode: 0o700 });
    await mkdir(dataDir, { recursive: true });
    const definitions = await loadDefinitions(crdsDir);
    this.#columns = new Map(definitions.map((definition) => [definition.kind, definition.columns]));
    const memory = await this.#statusFile.load();
    if (memory !== undefined) this.#records.restore(memory);
    this.#listener = listener;
    this.#inventory = { entries: rememberedEntries(this.#records.all()), refused: [] };

    const files = createManifestFiles(manifestsDir, definitions);
    const admissions = createAdmissions(definitions);
    await this.#look(files, admissions, true);
    const manifests = watchTree(manifestsDir, () => this.#look(files, admissions, false));
    const secretWatch = await createSecretWatch(this.#secretsDir, (ref) => this.#listener?.referentChanged(ref));
    this.#secretWatch = secretWatch;
    this.#watchers.push(
      manifests,
      watchTree(this.#secretsDir, () => secretWatch.look()),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#watchers.map((watcher) => watcher.stop()));
    this.#listener = undefined;
    await this.#statusFile.save();
  }

  async writeStatus(ref: ObjectRef<ResourceKind>, status: ResourceStatus): Promise<void> {
    const record = this.#records.setStatus(ref, status);
    if (record === undefined) return;
    this.#tell(record);
    await this.#statusFile.save();
  }

  async setFinalizer(ref: ObjectRef<ResourceKind>, present: boolean): Promise<void> {
    if (this.#records.get(ref)?.finalizer === present) return;
    const isGone = this.#records.setFinalizer(ref, present);
    await this.#statusFile.save();
    if (!isGone) return;
    this.#listener?.removed(ref);
    // The document may have come back while its old resource was being cleaned up.
    const entry = this.#inventory.entries.get(refKey(ref));
    if (entry !== undefined) this.#apply(entry, true);
  }

  recordEvent(ref: ObjectRef<ResourceKind>, event: ResourceEvent): void {
    logEvent(this.#options.logger, ref, event);
  }

  async readReferent(ref: ObjectRef<ReferentKind>): Promise<Record<string, string> | undefined> {
    const document = this.#inventory.entries.get(refKey(ref))?.spec;
    if (document !== undefined) return document as Record<string, string>;
    return ref.kind === 'Secret' ? this.#secrets.readEntries(ref.namespace, ref.name) : undefined;
  }

  async readOwnedSecret(namespace: string, name: string): Promise<StoredSecret | 'foreign' | undefined> {
    const isDocument = this.#inventory.entries.has(refKey({ kind: 'Secret', namespace, name }));
    return isDocument ? 'foreign' : this.#secrets.read(namespace, name);
  }

  async writeOwnedSecret(secret: OwnedSecret, before: StoredSecret | undefined): Promise<void> {
    await this.#secrets.write(secret, before);
    await this.#secretWatch?.noteWritten(secret.namespace, secret.name);
  }

  deleteOwnedSecret({ namespace, name }: StoredSecret): Promise<void> {
    return this.#secrets.remove(namespace, name);
  }

  async #look(files: ManifestFiles, admissions: AdmissionByKind, isFirst: boolean): Promise<void> {
    try {
      const content = await files.read();
      if (content === undefined && this.#missingSince.size === 0) return;
      this.#content = content ?? this.#content;
      const next = takeInventory(this.#content, this.#inventory, admissions);
      if (!isFirst) this.#keepNewlyMissing(next);
      this.#adopt(next, isFirst);
      await this.#statusFile.save();
    } catch (error) {
      if (isFirst) throw error;
      this.#options.logger.error({ error }, 'Could not take over changes of the manifests folder');
    }
  }

  #keepNewlyMissing(next: Inventory): void {
    const now = this.#clock.now();
    for (const key of this.#missingSince.keys()) {
      if (next.entries.has(key)) this.#missingSince.delete(key);
    }
    for (const [key, entry] of this.#inventory.entries) {
      if (next.entries.has(key)) continue;
      const since = this.#missingSince.get(key);
      if (since !== undefined && now - since >= REMOVAL_GRACE_MS) {
        this.#missingSince.delete(key);
        continue;
      }
      if (since === undefined) {
        this.#missingSince.set(key, now);
        this.#clock.schedule(REMOVAL_GRACE_MS, () => this.#watchers[0]?.poke());
      }
      next.entries.set(key, entry);
    }
  }

  #adopt(next: Inventory, isFirst: boolean): void {
    const before = this.#inventory;
    this.#inventory = next;
    this.#logRefusals(next.refused);
    for (const [key, entry] of before.entries) {
      if (!next.entries.has(key)) this.#remove(entry);
    }
    for (const [key, entry] of next.entries) {
      if (isFirst || before.entries.get(key) !== entry) this.#apply(entry, isFirst);
    }
    if (!isFirst) return;
    for (const record of this.#records.all()) if (record.deletionTimestamp !== undefined) this.#tell(record);
  }

  #apply(entry: InventoryEntry, tellAnyway: boolean): void {
    const { ref, spec } = entry;
    if (isCore(ref)) {
      this.#tellOfCore(ref, entry);
    } else if (spec !== undefined && this.#records.get(ref)?.deletionTimestamp === undefined) {
      const hasChanged = this.#records.note({ ...entry, spec });
      if (hasChanged || tellAnyway) this.#tell(this.#records.get(ref)!);
    }
  }

  #remove({ ref }: InventoryEntry): void {
    if (isCore(ref)) {
      this.#tellOfCore(ref, undefined);
      return;
    }
    const record = this.#records.get(ref);
    if (record === undefined) return;
    if (this.#records.markDeleted(ref)) this.#listener?.removed(record.ref);
    else this.#tell(record);
  }

  #tellOfCore(ref: ObjectRef<CoreKind>, entry: InventoryEntry | undefined): void {
    if (isReferent(ref)) this.#listener?.referentChanged(ref);
    else this.#listener?.namespaceChanged(ref.name, entry && { ...entry.labels, [NAMESPACE_NAME_LABEL]: ref.name });
  }

  #tell(record: ResourceRecord): void {
    this.#listener?.applied(toResource(record, this.#specOf(record)));
  }

  #specOf(record: ResourceRecord): JsonObject {
    return (
      this.#inventory.entries.get(refKey(record.ref))?.spec ??
      record.spec ?? { deletionPolicy: record.deletionPolicy ?? null }
    );
  }

  #renderStatus(): ReturnType<Parameters<typeof createStatusFile>[1]> {
    const memory = this.#records.memory();
    const records = memory.records.sort((a, b) => (refKey(a.ref) < refKey(b.ref) ? -1 : 1));
    const resources = records.map((record) => ({
      ...record.ref,
      creationTimestamp: record.creationTimestamp,
      columns: printColumns(this.#columns.get(record.ref.kind) ?? [], toResource(record, this.#specOf(record))),
      conditions: record.status?.conditions ?? [],
    }));
    return { report: { version: 1, resources, refused: this.#inventory.refused }, memory };
  }
}

function isCore(ref: ObjectRef<ResourceKind | CoreKind>): ref is ObjectRef<CoreKind> {
  return ref.kind === 'Namespace' || isReferent(ref);
}

function isReferent(ref: ObjectRef<ResourceKind | CoreKind>): ref is ObjectRef<ReferentKind> {
  return ref.kind === 'ConfigMap' || ref.kind === 'Secret';
}

function rememberedEntries(records: readonly ResourceRecord[]): Map<string, InventoryEntry> {
  return new Map(
    records
      .filter((record) => record.deletionTimestamp === undefined)
      .map(({ ref, labels, annotations, spec, file }) => [refKey(ref), { ref, labels, annotations, spec, file }]),
  );
}

function createAdmissions(definitions: readonly ResourceDefinition[]): AdmissionByKind {
  const declared = definitions.map((definition) => [definition.kind, createAdmission(definition)]);
  return {
    ...(Object.fromEntries(declared) as Omit<AdmissionByKind, CoreKind>),
    ConfigMap: createCoreAdmission('ConfigMap'),
    Secret: createCoreAdmission('Secret'),
    Namespace: createCoreAdmission('Namespace'),
  };
}

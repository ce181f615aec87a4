import { isJsonObject } from '../../../domain/json.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import type { RefusalReason } from '../../../domain/resource-status.ts';
import type { ResourceDefinition } from '../../schema/definitions.ts';
import { findMetadataViolations } from '../../schema/object-metadata.ts';
import { renderPath } from '../../schema/violation.ts';
import type { Violation } from '../../schema/violation.ts';
import { isDnsLabel } from '../names.ts';
import type { CoreKind, ObjectRef, ResourceKind } from '../types.ts';
import { parseYamlDocuments } from './yaml-documents.ts';
import type { YamlDocument } from './yaml-documents.ts';

/** The object that a document declares, before its schema is asked. */
export interface Manifest {
  ref: ObjectRef<ResourceKind | CoreKind>;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  content: JsonObject;
}

/** One document of a file. Without `manifest`, nothing tells which object it was meant to be. */
export interface ManifestDocument {
  file: string;
  line: number;
  manifest?: Manifest;
  /** Faults of the document itself; those of its schema are found later. */
  reasons: RefusalReason[];
  reasonsOf(violations: Violation[]): RefusalReason[];
}

const CORE_API_VERSION = 'v1';
const CORE_KINDS = ['ConfigMap', 'Secret', 'Namespace'] as const satisfies CoreKind[];

/** Reads the documents of a file and finds out what each declares. */
export function readManifests(
  file: string,
  text: string,
  definitions: readonly ResourceDefinition[],
): ManifestDocument[] {
  return parseYamlDocuments(text).map((document) => identify(file, document, definitions));
}

function identify(file: string, document: YamlDocument, definitions: readonly ResourceDefinition[]): ManifestDocument {
  const { line, content } = document;
  const reasonsOf = (violations: Violation[]) =>
    violations.map(({ path, message }) => ({ line: document.lineOf(path), path: renderPath(path), message }));
  const refused = (violations: Violation[]): ManifestDocument => ({
    file,
    line,
    reasons: reasonsOf(violations),
    reasonsOf,
  });
  if (content === undefined) return { file, line, reasons: document.faults, reasonsOf };

  const kind = kindOf(content, definitions);
  if ('violations' in kind) return refused(kind.violations);
  const metadata = content['metadata'];
  if (!isJsonObject(metadata)) return refused([{ path: ['metadata'], message: 'must be an object' }]);
  const names = namesOf(metadata, kind.namespaced);
  if ('violations' in names) return refused(names.violations);

  const violations = findMetadataViolations(metadata);
  const manifest: Manifest = {
    ref: { kind: kind.kind, ...names },
    labels: violations.length === 0 ? textMap(metadata['labels']) : {},
    annotations: violations.length === 0 ? textMap(metadata['annotations']) : {},
    content,
  };
  return { file, line, manifest, reasons: reasonsOf(violations), reasonsOf };
}

type Refused = { violations: Violation[] };

function kindOf(
  content: JsonObject,
  definitions: readonly ResourceDefinition[],
): Refused | { kind: ResourceKind | CoreKind; namespaced: boolean } {
  const { apiVersion, kind } = content;
  const definition = definitions.find((candidate) => candidate.kind === kind && candidate.apiVersion === apiVersion);
  if (definition !== undefined) return definition;
  const core = CORE_KINDS.find((candidate) => candidate === kind);
  if (core !== undefined && apiVersion === CORE_API_VERSION) return { kind: core, namespaced: core !== 'Namespace' };
  const known = definitions.map((candidate) => `${candidate.apiVersion} ${candidate.kind}`);
  const core1 = CORE_KINDS.map((candidate) => `${CORE_API_VERSION} ${candidate}`);
  const message = `with apiVersion must be one of ${[...known, ...core1].join(', ')}`;
  return { violations: [{ path: ['kind'], message }] };
}

function namesOf(metadata: JsonObject, namespaced: boolean): Refused | { namespace: string; name: string } {
  const violations: Violation[] = [];
  const label = 'must be 1 to 63 of a-z, 0-9 and "-", and begin and end with a letter or digit';
  const { name } = metadata;
  const namespace = metadata['namespace'] || (namespaced ? 'default' : '');
  if (typeof name !== 'string' || !isDnsLabel(name)) violations.push({ path: ['metadata', 'name'], message: label });
  const isPlaced = namespaced ? typeof namespace === 'string' && isDnsLabel(namespace) : namespace === '';
  if (!isPlaced) {
    const message = namespaced ? label : 'must be left out: this kind belongs to no namespace';
    violations.push({ path: ['metadata', 'namespace'], message });
  }
  return violations.length > 0 ? { violations } : { namespace: namespace as string, name: name as string };
}

function textMap(values: Json | undefined): Record<string, string> {
  const given = (values ?? {}) as Record<string, string | null>;
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value ?? '']));
}

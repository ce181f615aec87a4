import type { JsonObject } from '../../../src/domain/json.ts';
import { createAdmission } from '../../../src/operator/schema/admission.ts';
import type { Admission } from '../../../src/operator/schema/admission.ts';
import { loadDefinitions } from '../../../src/operator/schema/definitions.ts';
import type { ResourceDefinition } from '../../../src/operator/schema/definitions.ts';
import { renderPath } from '../../../src/operator/schema/violation.ts';
import { readManifests } from '../../../src/operator/sources/folder/manifest.ts';
import type { DocumentVerdict } from '../kubernetes/dry-run.ts';

export const DEFINITIONS = await loadDefinitions();

const admissions = new Map<ResourceDefinition, Admission>();

function admissionOf(definition: ResourceDefinition): Admission {
  const admission = admissions.get(definition) ?? createAdmission(definition);
  admissions.set(definition, admission);
  return admission;
}

/** What a manifests folder makes of a document that stands in one of its files. */
export function judgeStandalone(
  definition: ResourceDefinition,
  document: JsonObject,
  before?: JsonObject,
): DocumentVerdict {
  const [read] = readManifests('document.json', JSON.stringify(document), DEFINITIONS);
  const faults = read!.reasons.map(({ path, message }) => ({ path, message }));
  if (read!.manifest !== undefined) {
    const oldSpec = before && admissionOf(definition).admit(before).spec;
    const { spec, violations = [] } = admissionOf(definition).admit(document, oldSpec);
    if (spec !== undefined && faults.length === 0) return { spec };
    faults.push(...violations.map(({ path, message }) => ({ path: renderPath(path), message })));
  }
  const fields = new Set(faults.map(({ path }) => path));
  return { faults: [...fields], reason: faults.map(({ path, message }) => `${path} ${message}`).join('; ') };
}

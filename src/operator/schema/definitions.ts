import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { ResourceKind } from '../sources/types.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** What `kubectl get` prints in one column. */
export interface PrinterColumn {
  name: string;
  type: string;
  jsonPath: string;
  /** Above 0: only with `-o wide`. */
  priority?: number;
}

/** What a CRD file says about a kind. */
export interface ResourceDefinition {
  apiVersion: string;
  kind: ResourceKind;
  namespaced: boolean;
  schema: StructuralSchema;
  columns: PrinterColumn[];
}

interface CustomResourceDefinition {
  spec: {
    group: string;
    scope: 'Cluster' | 'Namespaced';
    names: { kind: ResourceKind };
    versions: {
      name: string;
      served: boolean;
      schema: { openAPIV3Schema: StructuralSchema };
      additionalPrinterColumns?: PrinterColumn[];
    }[];
  };
}

/** The CRDs of this package: three folders up both from `src` and from `dist`. */
export const CRDS_DIR = fileURLToPath(new URL('../../../crds', import.meta.url));

/** Reads the definitions of a folder of CRD files, one CRD a file. */
export async function loadDefinitions(folder: string = CRDS_DIR): Promise<ResourceDefinition[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => definitionsOf(parse(text) as CustomResourceDefinition));
}

function definitionsOf({ spec }: CustomResourceDefinition): ResourceDefinition[] {
  return spec.versions
    .filter((version) => version.served)
    .map((version) => ({
      apiVersion: `${spec.group}/${version.name}`,
      kind: spec.names.kind,
      namespaced: spec.scope === 'Namespaced',
      schema: version.schema.openAPIV3Schema,
      columns: version.additionalPrinterColumns ?? [],
    }));
}

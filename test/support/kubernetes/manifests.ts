import { parseAllDocuments } from 'yaml';

/** As much of a Kubernetes object as tests of manifests look at. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: object }[];
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[];
}

export interface Volume {
  name: string;
  secret?: { secretName: string; items?: { key: string; path: string }[] };
  projected?: { sources: Record<string, { path?: string; items?: { path: string }[] }>[] };
  configMap?: { name: string };
  emptyDir?: object;
  persistentVolumeClaim?: object;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
}

/** A pod that a manifest is, or makes. */
export interface RenderedPod {
  /** `Deployment tokenkeep-api` */
  readonly origin: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** The documents of a YAML stream, in its order. */
export function parseManifests(text: string): Manifest[] {
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  return documents.filter((document) => document !== null);
}

/** In the order of their names. */
export function ofKind<M extends Manifest>(kind: string, from: readonly M[]): M[] {
  return from
    .filter((manifest) => manifest.kind === kind)
    .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}

interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

/** Every pod of Deployments, Jobs and by itself. */
export function podsIn(manifests: readonly Manifest[]): RenderedPod[] {
  return manifests.flatMap((manifest) => {
    const { kind, metadata, spec } = manifest;
    const template = kind === 'Pod' ? (manifest as unknown as PodTemplate) : (spec?.['template'] as PodTemplate);
    if (!['Pod', 'Deployment', 'Job'].includes(kind)) return [];
    const { labels = {}, annotations = {} } = template.metadata ?? {};
    return [{ origin: `${kind} ${metadata.name}`, labels, annotations, spec: template.spec }];
  });
}

export function containersOf({ containers, initContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}

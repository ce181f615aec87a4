import { secretNameOf } from './application-keys.ts';
import type { AnyResource, ResourceOf } from './kinds/resources.ts';
import { isDeleting } from './kinds/resources.ts';
import { refKey } from './object-ref.ts';
import type { ReferentKind, ResourceKind } from './sources/types.ts';

/** By which keys resources of a kind are found. */
interface Lookup<Kind extends ResourceKind> {
  kind: Kind;
  keysOf: (resource: ResourceOf[Kind]) => string[];
}

/** Every question that reconciling asks of the store, but for names: none of them looks through a namespace. */
export const LOOKUPS = {
  /** By `nameKey`: AccessRules whose applicationRef names an Application. */
  rulesNaming: lookup('AccessRule', ({ metadata, spec }) =>
    spec.applicationRef === undefined ? [] : [nameKey('Application', metadata.namespace, spec.applicationRef.name)],
  ),
  /** By `labelKey`: AccessRules whose applicationSelector asks for a label, each under one of those that it asks for. */
  rulesSelecting: lookup('AccessRule', ({ metadata, spec }) => {
    if (spec.applicationRef !== undefined) return [];
    const [first] = Object.entries(spec.applicationSelector?.matchLabels ?? {}).sort();
    return first === undefined ? [] : [labelKey(metadata.namespace, ...first)];
  }),
  /** By `labelKey`. */
  applicationsLabelled: lookup('Application', ({ metadata }) =>
    Object.entries(metadata.labels).map(([label, value]) => labelKey(metadata.namespace, label, value)),
  ),
  /** By `nameKey` of a Secret: Applications that it holds the key of. */
  applicationsReferring: lookup('Application', (application) => {
    if (isDeleting(application)) return [];
    const names = [secretNameOf(application), application.spec.key.fromSecret?.name];
    return names
      .filter((name) => name !== undefined)
      .map((name) => nameKey('Secret', application.metadata.namespace, name));
  }),
  /** By `nameKey` of a ConfigMap, Secret or Application: Reactors that are made of it. */
  reactorsReferring: lookup('Reactor', (reactor) => {
    if (isDeleting(reactor)) return [];
    const { codeFrom, configurationFrom, applicationRef } = reactor.spec;
    const { namespace } = reactor.metadata;
    return [
      ...(codeFrom === undefined ? [] : [nameKey('ConfigMap', namespace, codeFrom.configMap.name)]),
      ...configurationFrom.map(({ secret }) => nameKey('Secret', namespace, secret.name)),
      ...(applicationRef === undefined ? [] : [nameKey('Application', namespace, applicationRef.name)]),
    ];
  }),
};

export type LookupName = keyof typeof LOOKUPS;

/** The resource that a lookup finds. */
export type FoundBy<Name extends LookupName> = ResourceOf[(typeof LOOKUPS)[Name]['kind']];

/** The keys under which a lookup finds a resource; none for one of another kind. */
export function lookupKeysOf(name: LookupName, resource: AnyResource): string[] {
  const { kind, keysOf } = LOOKUPS[name] as Lookup<ResourceKind>;
  return resource.kind === kind ? keysOf(resource) : [];
}

export function nameKey(kind: ReferentKind | 'Application', namespace: string, name: string): string {
  return refKey({ kind, namespace, name });
}

/** Neither a label's name nor its value can hold an equals sign. */
export function labelKey(namespace: string, label: string, value: string): string {
  return `${namespace}/${label}=${value}`;
}

function lookup<Kind extends ResourceKind>(kind: Kind, keysOf: (resource: ResourceOf[Kind]) => string[]): Lookup<Kind> {
  return { kind, keysOf };
}

import type { ObjectRef } from './sources/types.ts';

/** A key that no two objects share: none of its parts can hold a slash. */
export function refKey({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}

/** For people: `Application payments/checkout`, `Tenant acme`. */
export function renderRef({ kind, namespace, name }: ObjectRef): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

import type { Reactor } from '../../domain/reactors.ts';
import type { Revised } from '../../reactors/types.ts';

/** By which its instances are chosen. */
export function revisedOf({ revision, createdAt, modifiedAt }: Reactor): Required<Revised> {
  return { revision, revisedAt: (modifiedAt ?? createdAt).getTime() };
}

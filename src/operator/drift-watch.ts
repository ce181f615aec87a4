import { createHash } from 'node:crypto';
import type { Declared } from './internal-client.ts';
import { refKey } from './object-ref.ts';
import type { ObjectRef, ResourceKind, ResourceSource } from './sources/types.ts';

/** Tells a person where the API held something else although the declaration was the same as before. */
export interface DriftWatch {
  noticed(ref: ObjectRef<ResourceKind>, declaration: object, answer: Declared): void;
  forget(ref: ObjectRef<ResourceKind>): void;
}

export function createDriftWatch(source: ResourceSource): DriftWatch {
  // Digests: a reactor's declaration holds configuration that is not to be kept around.
  const digests = new Map<string, string>();
  return {
    noticed(ref, declaration, { changed }) {
      const digest = createHash('sha256').update(JSON.stringify(declaration)).digest('base64');
      const isSame = digests.get(refKey(ref)) === digest;
      digests.set(refKey(ref), digest);
      if (!changed) return;
      source.recordEvent(
        ref,
        isSame
          ? { type: 'Warning', reason: 'DriftCorrected', message: 'Put back what was changed through the API' }
          : { type: 'Normal', reason: 'Declared', message: 'Declared to the API' },
      );
    },
    forget: (ref) => void digests.delete(refKey(ref)),
  };
}

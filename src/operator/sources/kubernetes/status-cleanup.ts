import type { JsonObject } from '../../../domain/json.ts';
import type { ResourceStatus } from '../types.ts';

/**
 * The merge patch of a status that takes out what another manager put there, undefined where nothing is. Apply leaves
 * that as it is, and a `Stalled` of somebody else beside our `Ready` would be believed.
 */
export function buildStatusCleanup(answered: JsonObject = {}, ours: ResourceStatus): object | undefined {
  const wanted: Record<string, unknown> = { ...ours };
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(answered)) {
    const own = wanted[field];
    if (own === undefined) patch[field] = null;
    // A merge patch replaces a list as a whole.
    else if (Array.isArray(value) && Array.isArray(own) && value.length > own.length) patch[field] = own;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** The machine that this runs on does not allow it: its kernel does not, or the container that it is. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** What `unshare`, `mount`, `ip` and the shell say of a kernel that does not let them, where no language is set. */
const REFUSED =
  /operation not permitted|permission denied|read-only file system|not supported|unknown (filesystem|device) type|must be superuser/i;

/** Of a command that failed with this output: a refusal only where it says so. A mistake of ours is none. */
export function failureOf(what: string, output: string): Error {
  const message = `${what}: ${output.trim()}`;
  return REFUSED.test(output) ? new RefusedError(message) : new Error(message);
}

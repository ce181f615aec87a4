/**
 * Keeps a supervisor small whatever it passes on. What it holds at a time is bounded (INVOCATION_LIMITS.callBytes in
 * reactors/types.ts), but by default V8 and glibc let garbage and free pages grow to many times that: a supervisor was
 * seen at 232 MB of its own that stays below 113 MB so. Node's heap, in MB, then mallopt(3) by its variables; other C
 * libraries ignore those.
 */
export const SUPERVISOR_ENVIRONMENT: Readonly<Record<string, string>> = {
  NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=96',
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

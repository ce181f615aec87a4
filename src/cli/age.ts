const UNITS = [
  ['d', 24 * 3600],
  ['h', 3600],
  ['m', 60],
] as const;

/** A duration as kubectl shows ages: `45s`, `12m`, `7h`, `3d`. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  for (const [unit, size] of UNITS) if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}

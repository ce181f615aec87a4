const SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** Seconds of a duration as our CRDs take it: `3600s`, `30m`, `24h`. */
export function parseDurationSeconds(text: string): number {
  const unit = text.slice(-1);
  if (!/^\d+[smh]$/.test(text)) throw new Error('A duration did not pass its schema');
  return Number(text.slice(0, -1)) * SECONDS[unit as keyof typeof SECONDS];
}

const BYTES = { Mi: 2 ** 20, Gi: 2 ** 30 } as const;

/** Bytes of a memory quantity as our CRDs take it: `256Mi`, `1Gi`. */
export function parseMemoryBytes(text: string): number {
  const unit = text.slice(-2);
  if (!/^\d+(Mi|Gi)$/.test(text)) throw new Error('A memory quantity did not pass its schema');
  return Number(text.slice(0, -2)) * BYTES[unit as keyof typeof BYTES];
}

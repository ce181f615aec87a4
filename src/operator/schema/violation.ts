/** One way in which a value breaks its schema. */
export interface Violation {
  /** Members and indexes from the root: `['spec', 'rules', '0', 'transform']`. */
  path: string[];
  /** Reads after the path. Never holds the value. */
  message: string;
}

/** `spec.rules[0].transform`; members that are no plain names in brackets. */
export function renderPath(path: readonly string[]): string {
  return path
    .map((step) => {
      if (/^\d+$/.test(step)) return `[${step}]`;
      return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join('')
    .replace(/^\./, '');
}

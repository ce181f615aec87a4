import { isDeepStrictEqual } from 'node:util';

/** Something that an answer must show. */
export interface Fact {
  /** A member of the answer's body, as `data.0.operation`. */
  readonly path: string;
  /** For people: what is there. */
  readonly expected: string;
  holds(found: unknown): boolean;
}

/** The member has exactly this value. */
export function equals(path: string, value: unknown): Fact {
  return { path, expected: JSON.stringify(value), holds: (found) => isDeepStrictEqual(found, value) };
}

/** The member is there, with a value that cannot be told beforehand. */
export function present(path: string): Fact {
  return { path, expected: 'present', holds: (found) => found !== undefined };
}

/** The member is not there. */
export function absent(path: string): Fact {
  return { path, expected: 'absent', holds: (found) => found === undefined };
}

/** The member of a body at a path; undefined where there is none. */
export function memberAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    return (value as Record<string, unknown>)[name];
  }, body);
}

/** How an answer differs from what is expected of it, one sentence each; empty where it does not. */
export function differences(
  answer: { readonly status: number; readonly body: unknown },
  expected: { readonly status: number; readonly facts: readonly Fact[] },
): string[] {
  const status = answer.status === expected.status ? [] : [`status: expected ${expected.status}, got ${answer.status}`];
  const members = expected.facts.flatMap((fact) => {
    const found = memberAt(answer.body, fact.path);
    return fact.holds(found)
      ? []
      : [`${fact.path}: expected ${fact.expected}, got ${JSON.stringify(found) ?? 'nothing'}`];
  });
  return [...status, ...members];
}

/** The same when nothing differs: `200, data.number is "XXXX"`. */
export function agreement({ status, facts }: { readonly status: number; readonly facts: readonly Fact[] }): string {
  return [String(status), ...facts.map(({ path, expected }) => `${path} is ${expected}`)].join(', ');
}

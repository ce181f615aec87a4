const NUMBER = /^(0|[1-9]\d*)$/;

/**
 * Whether version `a` of an object came before version `b`: Kubernetes promises decimal numbers, of any length. False
 * where either is absent or no such number.
 */
export function isOlder(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || !NUMBER.test(a) || !NUMBER.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

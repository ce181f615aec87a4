/** The form of a word that goes with a number: of a noun or of its verb. */
export function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

/** A number with its noun: `1 link`, `2 links`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${plural(count, one, many)}`;
}

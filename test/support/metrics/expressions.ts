/** Of a histogram, each of these is a series; of a recording rule, the name has colons. */
const SUFFIX = /_(?:bucket|count|sum)$/;

/**
 * The metrics that an expression of PromQL reads: names followed by a selector, a range, an offset or an operator, and
 * no functions, keywords or labels.
 */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/#.*$/gm, ' ')
    .replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\b(?:offset)\s+\S+/g, ' ');
  const names = [...bare.matchAll(/(?<![\w:.])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])/g)].map(([, name]) => name!);
  return [...new Set(names.filter((name) => !KEYWORDS.has(name)))];
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'by', 'sum', 'min', 'max', 'count', 'inf', 'nan']);

/** Those of the names that neither are documented nor stand for a part of a histogram that is. */
export function unknownMetrics(names: readonly string[], documented: ReadonlySet<string>): string[] {
  return names.filter((name) => !documented.has(name) && !documented.has(name.replace(SUFFIX, '')));
}

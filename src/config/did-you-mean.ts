/** The candidate that `text` is most likely a misspelling of, as ` (did you mean X?)`, or nothing. */
export function didYouMean(text: string, candidates: Iterable<string>): string {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  const tolerated = Math.max(2, Math.floor(text.length / 4));
  return best !== undefined && best.distance <= tolerated ? ` (did you mean ${best.candidate}?)` : '';
}

/** Levenshtein distance. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = (above[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}

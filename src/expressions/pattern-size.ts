const COUNT = /\{(\d+)(?:,(\d*))?\}/y;
const BRACED_ESCAPE = /\\[pPx]\{[^}]*\}/y;
const CLASS = /\[\^?\]?(?:\\[^]|[^\]\\])*\]?/y;

/**
 * How many characters and classes a regular expression has once its counted repetitions are written out, which is about
 * the size of its program. Read off before it is compiled: RE2 bounds each repetition, not how many stand side by side,
 * and writes all of them out. Counts too much rather than too little; nothing here needs the pattern to be valid.
 */
export function expandedSize(pattern: string): number {
  // The group that is open on top, each with its size so far and that of its last piece, which a count multiplies.
  const groups = [{ size: 0, last: 0 }];
  const add = (piece: number): void => {
    const group = groups.at(-1)!;
    group.size += piece;
    group.last = piece;
  };
  for (let index = 0; index < pattern.length;) {
    const character = pattern[index]!;
    const count = character === '{' ? matchAt(COUNT, pattern, index) : undefined;
    if (count !== undefined) {
      const group = groups.at(-1)!;
      const repeated = group.last * Math.max(1, Number(count[1]), Number(count[2] ?? 0));
      group.size += repeated - group.last;
      group.last = repeated;
      index += count[0].length;
    } else if (character === '(') {
      groups.push({ size: 0, last: 0 });
      index += 1;
    } else if (character === ')' && groups.length > 1) {
      add(groups.pop()!.size + 1);
      index += 1;
    } else if ('*+?'.includes(character)) {
      index += 1;
    } else {
      add(1);
      index += pieceLength(pattern, index, character);
    }
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}

function pieceLength(pattern: string, index: number, character: string): number {
  if (character === '[') return matchAt(CLASS, pattern, index)?.[0].length ?? 1;
  if (character === '\\') return matchAt(BRACED_ESCAPE, pattern, index)?.[0].length ?? 2;
  return 1;
}

function matchAt(expression: RegExp, text: string, index: number): RegExpExecArray | undefined {
  expression.lastIndex = index;
  return expression.exec(text) ?? undefined;
}

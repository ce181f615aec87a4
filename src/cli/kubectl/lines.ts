export interface Lines {
  /** Any part of the text, in order. */
  readonly take: (text: string) => void;
  /** Hands on what has no line break after it. */
  readonly end: () => void;
}

/** Hands the lines of a text that comes in parts to `write`, one by one. */
export function createLines(write: (line: string) => void): Lines {
  let rest = '';
  return {
    take(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) write(line);
    },
    end() {
      if (rest !== '') write(rest);
      rest = '';
    },
  };
}

import { styleText } from 'node:util';

/** Lines on standard output; in colour on a terminal, unless NO_COLOR is set. */
export interface Screen {
  title(text: string): void;
  line(text: string): void;
  /** What goes along with the line before it. */
  detail(text: string): void;
  success(text: string): void;
  failure(text: string): void;
}

/** Lines of one answer that are shown at most. */
const SHOWN_LINES = 24;

export function createScreen(): Screen {
  const write = (text: string): void => void process.stdout.write(`${text}\n`);
  // styleText leaves colours out where the stream is no terminal, and where NO_COLOR is set.
  const styled = (format: Parameters<typeof styleText>[0], text: string): string =>
    styleText(format, text, { stream: process.stdout });
  return {
    title: (text) => write(`\n${styled('bold', text)}`),
    line: write,
    detail: (text) => write(styled('dim', text)),
    success: (text) => write(`${styled('green', '✓')} ${text}`),
    failure: (text) => write(`${styled('red', '✗')} ${text}`),
  };
}

/** JSON for people, clipped. */
export function prettyJson(value: unknown): string {
  const lines = JSON.stringify(value, null, 2).split('\n');
  if (lines.length <= SHOWN_LINES) return lines.join('\n');
  return [...lines.slice(0, SHOWN_LINES), `  … ${lines.length - SHOWN_LINES} more lines`].join('\n');
}

export function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}

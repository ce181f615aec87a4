import type { LogDestination } from './logger.ts';

/** Renders JSON log lines for a person: `12:30:01 info  message  field=value`, an error's frames below. */
export function prettyLines(destination: LogDestination): LogDestination {
  return { write: (line) => destination.write(prettyLine(line)) };
}

function prettyLine(line: string): string {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 19);
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${prettyValue(value)}`);
  const frames = Object.values(fields).flatMap(framesOf);
  return [[clock, String(level).padEnd(5), String(message), ...shown].join(' '), ...frames].join('\n') + '\n';
}

function prettyValue(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value, (key, inner: unknown) => (key === 'stack' ? undefined : inner));
}

function framesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || !('stack' in value) || typeof value.stack !== 'string') return [];
  return value.stack.split('\n').map((frame) => `    ${frame}`);
}

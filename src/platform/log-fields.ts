/** What of a value may be written to a log. The rule is an allow-list: unknown shapes are omitted, never rendered. */

const OMITTED = '[omitted]';

/** Causes beyond this are dropped: deeper chains are loops or noise. */
const MAX_CAUSES = 3;

/** Renders every field that is safe by its shape. */
export function logFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, logValue(value)]));
}

function logValue(value: unknown): unknown {
  if (value instanceof Error) return logError(value);
  if (Array.isArray(value)) return value.map((item: unknown) => (isPrimitive(item) ? item : OMITTED));
  return isPrimitive(value) ? value : OMITTED;
}

function isPrimitive(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value);
}

/**
 * An error that carries a `kind` is a failure that the program expects: where it was thrown tells nothing, so kind and
 * message are all that is written. Of any other error: name, message, code, stack frames and causes, and no further
 * property, since drivers put rows and parameters there.
 */
export function logError(error: Error, depth = 0): Record<string, unknown> {
  if ('kind' in error && typeof error.kind === 'string') return { kind: error.kind, message: error.message };
  const code = 'code' in error && isPrimitive(error.code) ? error.code : undefined;
  return {
    name: error.name,
    message: quotesInput(error, code) ? OMITTED : error.message,
    code,
    stack: stackFrames(error),
    cause: error.cause instanceof Error && depth < MAX_CAUSES ? logError(error.cause, depth + 1) : undefined,
  };
}

/** JSON.parse quotes the text that it refuses, and Postgres quotes the value behind a data exception (class 22). */
function quotesInput(error: Error, code: unknown): boolean {
  return error instanceof SyntaxError || (typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code));
}

/** The frames alone: the head of a stack repeats the message. */
function stackFrames(error: Error): string | undefined {
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return frames?.map((line) => line.trim()).join('\n');
}

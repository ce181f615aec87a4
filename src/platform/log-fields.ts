/** What of a value may be written to a log. The rule is an allow-list: unknown shapes are omitted, never rendered. */

const OMITTED = '[omitted]';

/** Causes beyond this are dropped: deeper chains are loops or noise. */
const MAX_CAUSES = 3;
/** Of an AggregateError; further ones are dropped. */
const MAX_ERRORS = 5;

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
 * An error that carries a `kind` is a failure that the program expects: where it was thrown tells nothing, so kind,
 * message and causes are all that is written. Of any other error: name, message, code, stack frames, causes, the errors
 * that it gathers, and no further property, since drivers put rows and parameters there.
 */
function logError(error: Error, depth = 0): Record<string, unknown> {
  const code = 'code' in error && isPrimitive(error.code) ? error.code : undefined;
  const message = quotesInput(error, code) ? OMITTED : error.message;
  const origins = depth < MAX_CAUSES ? logOrigins(error, depth + 1) : {};
  if ('kind' in error && typeof error.kind === 'string') return { kind: error.kind, message, ...origins };
  return { name: error.name, message, code, stack: stackFrames(error), ...origins };
}

/** What an error says that it comes from. */
function logOrigins(error: Error, depth: number): Record<string, unknown> {
  const gathered: unknown[] = error instanceof AggregateError ? error.errors.slice(0, MAX_ERRORS) : [];
  return {
    ...(error.cause instanceof Error ? { cause: logError(error.cause, depth) } : {}),
    ...(gathered.length > 0
      ? { errors: gathered.map((item) => (item instanceof Error ? logError(item, depth) : OMITTED)) }
      : {}),
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

import { pino } from 'pino';
import { logFields } from './log-fields.ts';
import { prettyLines } from './pretty-log.ts';

/** From most to least talkative; `silent` writes nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/**
 * What goes with a message. Strings, numbers, booleans, null, errors and lists of those are written; anything else is
 * replaced by `[omitted]`, so that a request, its headers or its body cannot reach a log by mistake.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/** One line per event. Messages are fixed texts; what varies goes into the fields, and never holds plaintext. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}

/** Where finished lines go; each has its newline. */
export interface LogDestination {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Standard error by default: standard output is for what the program prints for its user. */
  readonly destination?: LogDestination;
}

/** Writes synchronously, so that the last lines before a crash are not lost. */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true });
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
    },
    options.format === 'pretty' ? prettyLines(destination) : destination,
  );
  return wrap(root);
}

/** Writes nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

type PinoLogger = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'> & {
  child(fields: Record<string, unknown>): PinoLogger;
};

/** Fields pass the allow-list before pino sees them: pino's own serializers act only on keys that they are told of. */
function wrap(target: PinoLogger): Logger {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: LogFields, message: string): void => {
      if (target.isLevelEnabled(level)) target[level](logFields(fields), message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(target.child(logFields(fields))),
  };
}

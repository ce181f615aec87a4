import { expect } from 'chai';
import { DomainError } from '../../../src/domain/errors.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import type { LogFormat, LogLevel, Logger } from '../../../src/platform/logger.ts';

const CANARY = '4242424242424242';

function capture(options: { level?: LogLevel; format?: LogFormat } = {}): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const logger = createLogger({
    level: options.level ?? 'debug',
    format: options.format ?? 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  return { logger, lines };
}

function parsed(lines: string[]): Record<string, unknown> {
  expect(lines).to.have.lengthOf(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('logger', () => {
  it('writes one JSON line with level, time, message and fields', () => {
    const { logger, lines } = capture();
    logger.info({ route: '/tokens', status: 201, tags: ['a', 'b'] }, 'answered');
    expect(lines[0]).to.match(/^\{.*\}\n$/);
    const line = parsed(lines);
    expect(line).to.include({ level: 'info', message: 'answered', route: '/tokens', status: 201 });
    expect(line.tags).to.deep.equal(['a', 'b']);
    expect(line.time).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('leaves out what is below its level', () => {
    const { logger, lines } = capture({ level: 'warn' });
    logger.debug({}, 'no');
    logger.info({}, 'no');
    logger.warn({}, 'yes');
    expect(parsed(lines).message).to.equal('yes');
  });

  it('adds the fields of a child to each of its lines', () => {
    const { logger, lines } = capture();
    logger.child({ part: 'api' }).child({ traceId: 't1' }).error({}, 'failed');
    expect(parsed(lines)).to.include({ part: 'api', traceId: 't1' });
  });

  for (const value of [{ number: CANARY }, [{ number: CANARY }], new Map([['n', CANARY]]), Buffer.from(CANARY)]) {
    it(`omits a ${value.constructor.name}`, () => {
      const { logger, lines } = capture();
      logger.info({ body: value }, 'received');
      logger.child({ body: value }).info({}, 'received');
      expect(lines.join('')).to.include('[omitted]').and.not.include(CANARY);
    });
  }

  it('writes name, message, code, frames and cause of an error, and none of its other properties', () => {
    const { logger, lines } = capture();
    const cause = Object.assign(new Error('socket closed'), { code: 'ECONNRESET' });
    const error = Object.assign(new TypeError('broken', { cause }), { detail: CANARY, parameters: [CANARY] });
    logger.error({ error }, 'failed');
    expect(lines.join('')).not.to.include(CANARY);
    const written = parsed(lines).error as Record<string, unknown>;
    expect(written).to.include({ name: 'TypeError', message: 'broken' });
    expect(written.stack).to.match(/^at .*logger\.test\.ts/);
    expect(written.cause).to.include({ message: 'socket closed', code: 'ECONNRESET' });
  });

  it('writes kind, message and cause of an expected failure, and nothing else of it', () => {
    const { logger, lines } = capture();
    const cause = Object.assign(new Error('socket closed'), { code: 'ECONNRESET', detail: CANARY });
    const error = Object.assign(new DomainError('unavailable', 'Postgres is away.', { cause }), { detail: CANARY });
    logger.info({ error }, 'refused');
    expect(lines.join('')).not.to.include(CANARY);
    const { cause: written, ...rest } = parsed(lines).error as Record<string, unknown>;
    expect(rest).to.deep.equal({ kind: 'unavailable', message: 'Postgres is away.' });
    expect(written).to.include({ name: 'Error', message: 'socket closed', code: 'ECONNRESET' });
  });

  it('writes at most five of the errors that one gathers, each by the rules of its own', () => {
    const { logger, lines } = capture();
    const quoting = Object.assign(new Error(`invalid input: "${CANARY}"`), { code: '22P02' });
    const others = Array.from({ length: 5 }, (_, index) => new Error(`part ${index}`));
    const error = new AggregateError([quoting, { number: CANARY }, new DomainError('conflict', 'Taken.'), ...others]);
    logger.error({ error }, 'failed');
    expect(lines.join('')).not.to.include(CANARY);
    const { errors } = parsed(lines).error as { errors: unknown[] };
    expect(errors).to.have.length(5);
    expect(errors[0]).to.include({ message: '[omitted]', code: '22P02' });
    expect(errors.slice(1, 3)).to.deep.equal(['[omitted]', { kind: 'conflict', message: 'Taken.' }]);
    expect(errors[4]).to.include({ message: 'part 1' });
  });

  it('ends at errors that gather or cause themselves', () => {
    const { logger, lines } = capture();
    const error = new AggregateError([], 'round');
    error.errors.push(error);
    error.cause = error;
    logger.error({ error }, 'failed');
    expect(lines).to.have.length(1);
  });

  it('omits the message of a JSON syntax error, which quotes the input', () => {
    const { logger, lines } = capture();
    try {
      JSON.parse(`{"number": ${CANARY}x}`);
    } catch (error) {
      logger.error({ error }, 'failed');
    }
    expect(parsed(lines).error).to.include({ name: 'SyntaxError', message: '[omitted]' });
    expect(lines.join('')).not.to.include('42424242');
  });

  it('omits the message of a Postgres data exception, which quotes the value', () => {
    const { logger, lines } = capture();
    logger.error({ error: Object.assign(new Error(`invalid input: "${CANARY}"`), { code: '22P02' }) }, 'failed');
    expect(lines.join('')).to.include('22P02').and.not.include(CANARY);
  });

  for (const format of ['json', 'pretty'] as const) {
    it(`keeps what a field holds within its line: ${format}`, () => {
      const { logger, lines } = capture({ format });
      const forged = 'x\r\n{"level":"info","message":"forged"}\n\u001b[2K';
      logger.info({ value: forged, list: [forged] }, 'answered');
      expect(lines).to.have.lengthOf(1);
      expect(lines[0]!.slice(0, -1)).not.to.match(/[\r\n\u001b]/);
    });
  }

  it('renders a line for a person where told to', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    logger.warn({ route: '/tokens', note: 'two words', error: new Error('broken') }, 'slow');
    expect(lines[0]).to.match(
      /^\d\d:\d\d:\d\d warn {2}slow route=\/tokens note="two words" error=\{.*"broken".*\n {4}at /,
    );
  });
});

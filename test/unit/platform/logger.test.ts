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

  it('writes only kind and message of an expected failure', () => {
    const { logger, lines } = capture();
    logger.info({ error: new DomainError('not-found', 'No such token.', { cause: new Error(CANARY) }) }, 'refused');
    expect(parsed(lines).error).to.deep.equal({ kind: 'not-found', message: 'No such token.' });
  });

  it('omits the message of a JSON syntax error, which quotes the input', () => {
    const { logger, lines } = capture();
    try {
      JSON.parse(`{"number": ${CANARY}x}`);
    } catch (error) {
      logger.error({ error }, 'failed');
    }
    expect(parsed(lines).error).to.include({ name: 'SyntaxError', message: '[omitted]' });
    expect(lines.join('')).not.to.include('4242');
  });

  it('omits the message of a Postgres data exception, which quotes the value', () => {
    const { logger, lines } = capture();
    logger.error({ error: Object.assign(new Error(`invalid input: "${CANARY}"`), { code: '22P02' }) }, 'failed');
    expect(lines.join('')).to.include('22P02').and.not.include(CANARY);
  });

  it('renders a line for a person where told to', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    logger.warn({ route: '/tokens', note: 'two words', error: new Error('broken') }, 'slow');
    expect(lines[0]).to.match(
      /^\d\d:\d\d:\d\d warn {2}slow route=\/tokens note="two words" error=\{.*"broken".*\n {4}at /,
    );
  });
});

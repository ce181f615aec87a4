import { expect } from 'chai';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LOG_LIMITS } from '../../../src/reactors/types.ts';
import { BODY_RUNNER, createReactorHarness, until } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';

const CARD = '4242424242424242';
const CONFIGURED = 'sk_live_configured';
const TOKEN = { id: 'c06d0789-0a38-40be-b7cc-c28a718f76f1', data: 'a value of the vault' };

describe('what a reactor prints', function () {
  this.timeout(60_000);
  let api: Server;
  let reactors: ReactorHarness;
  let runner: DeployedReactor;
  before(async () => {
    api = createServer((_, response) => response.end(JSON.stringify(TOKEN))).listen(0, '127.0.0.1');
    reactors = createReactorHarness();
    runner = await reactors.deploy(BODY_RUNNER, { configuration: { key: CONFIGURED } });
  });
  after(async () => {
    await reactors.stop();
    api.close();
  });
  beforeEach(() => void reactors.logs.splice(0));

  const svc = () => {
    const { port } = api.address() as AddressInfo;
    return { baseUrl: `http://127.0.0.1:${port}`, headerPrefix: 'SVC', key: 'key-of-svc' };
  };

  /** The lines of one run; the last of them is ours, so that all others have come. */
  async function printed(body: string, args: Record<string, string> = {}) {
    await runner.invoke({ ...args, body: `${body}; console.log('-end-')` }, { svc: svc() });
    await until(() => reactors.logs.some(({ message }) => message === '-end-' || /left out/.test(message)));
    return reactors.logs.filter(({ message }) => message !== '-end-');
  }

  it('is told with its level, its reactor and its request', async () => {
    const lines = await printed(
      `console.log('a %s', 1); console.info('b'); console.warn({ c: 2 }); console.error('d'); console.debug('e')`,
    );
    const { tenantId, reactorId, revision } = runner.workload;
    const about = { traceId: 'trace', tenantId, reactorId, revision };
    expect(lines).to.deep.equal([
      { level: 'info', message: 'a 1', ...about },
      { level: 'info', message: 'b', ...about },
      { level: 'warn', message: '{ c: 2 }', ...about },
      { level: 'error', message: 'd', ...about },
      { level: 'debug', message: 'e', ...about },
    ]);
  });

  it('has nothing in it of the arguments, the configuration and what svc answered', async () => {
    const lines = await printed(
      `const token = await req.svc.tokens.retrieve('x');
       const { createHash } = require('crypto');
       console.log(req); console.log(token); console.dir(req.args, { depth: null });
       for (const value of [req.args.card, req.args.name, req.configuration.key, token.data]) {
         console.log(value); console.log('is %s!', value); console.log('%j', { value });
         console.log(btoa(value), btoa('user:' + value)); console.log(Buffer.from(value).toString('hex'));
         console.log(encodeURIComponent(value)); console.error(new Error(value)); console.table([value]);
       }
       console.log('4000 0566 5566 5556')`,
      { card: CARD, name: 'Ada Lovelace' },
    );
    expect(lines.length).to.be.above(35);
    const text = JSON.stringify(lines);
    for (const secret of [CARD, CONFIGURED, TOKEN.data, TOKEN.id, 'Ada Lovelace']) {
      const bytes = Buffer.from(secret);
      const forms = [secret, encodeURIComponent(secret), bytes.toString('hex'), bytes.toString('base64').slice(0, -4)];
      for (const form of [...forms, Buffer.from(`user:${secret}`).toString('base64').slice(8, -4)]) {
        expect(text, form).not.to.contain(form);
      }
    }
    expect(text).to.contain('is [redacted]!').and.not.to.contain('4000 0566');
  });

  it('is cut where a line is long, and hides a value of which the cut leaves a part', async () => {
    const [line] = await printed(`console.log('x'.repeat(${LOG_LIMITS.lineBytes - 10}) + req.args.secret)`, {
      secret: 'the-first-words-of-a-secret',
    });
    expect(line!.message)
      .to.match(/^x+\[redacted\]… \(cut\)$/)
      .and.not.to.contain('the-first');
    expect(Buffer.byteLength(line!.message)).to.be.at.most(LOG_LIMITS.lineBytes + 20);
  });

  it('is bounded in lines; the rest is counted', async () => {
    const lines = await printed(`for (let i = 0; i < 2_000; i += 1) console.log('line')`);
    expect(lines).to.have.length(LOG_LIMITS.lines + 1);
    expect(lines.at(-1)).to.include({
      level: 'warn',
      message: `1901 more lines were left out: the limit is ${LOG_LIMITS.lines} lines and ${LOG_LIMITS.totalBytes} bytes.`,
    });
  });

  it('is bounded in bytes', async () => {
    const lines = await printed(`for (let i = 0; i < 99; i += 1) console.log('€'.repeat(1000))`);
    const bytes = lines.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);
    expect(bytes).to.be.below(LOG_LIMITS.totalBytes + 200);
    expect(lines.at(-1)!.message).to.match(/^\d+ more lines were left out/);
  });

  it('tells of a run that floods until it is ended', async () => {
    const flood = await reactors.deploy(`module.exports = async () => { for (;;) console.log('x'.repeat(1e4)) }`, {
      timeoutSeconds: 1,
    });
    expect(await flood.invoke()).to.deep.equal({ kind: 'timed-out' });
    await until(() => reactors.logs.some(({ message }) => message.startsWith('At least')));
    expect(reactors.logs.length).to.be.at.most(LOG_LIMITS.lines + 1);
  });

  it('never fails the code', async () => {
    const outcome = await runner.invoke({
      body: `console.log({ get x() { throw new Error('getter') } }, new Proxy({}, { ownKeys() { throw 1 } }), Symbol('s'));
        console.log(); console.group('g'); console.log('in'); console.groupEnd(); console.count(); console.assert(true);
        return { raw: 1 }`,
    });
    expect(outcome).to.deep.equal({ kind: 'returned', raw: 1 });
    await until(() => reactors.logs.length === 5);
    expect(reactors.logs.map(({ message }) => message)).to.deep.equal([
      '[a value that cannot be shown]',
      '',
      'g',
      '  in',
      'default: 1',
    ]);
  });
});

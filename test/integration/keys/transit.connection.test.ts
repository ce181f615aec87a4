import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { openTransit, type Transit, type TransitOptions } from '../../../src/keys/transit/transit.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { startFreezingProxy } from '../../support/freezing-proxy.ts';
import { startLossyProxy, type LossyProxy } from '../../support/lossy-proxy.ts';
import { rejection } from '../../support/rejection.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

interface Debug {
  enable(namespaces: string): void;
  disable(): void;
}

const RECOVERY = { deadlineMs: 30_000, everyMs: 50 };

describe('the connection to Vault', () => {
  const tenantId = randomUUID();
  let transit: TestTransit;
  let token: string;
  let proxy: LossyProxy;
  let opened: Transit[];

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    token = await transit.tokenFor('tokenkeep-api');
  });
  after(() => transit?.dispose());
  beforeEach(async () => {
    opened = [];
    proxy = await startLossyProxy(transit.server.address);
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
    await proxy.close();
  });

  async function open(changed: Partial<TransitOptions> = {}): Promise<Transit> {
    const management = await openTransit({ ...transit.optionsFor(token), address: proxy.address, ...changed });
    opened.push(management);
    return management;
  }

  function requestsTo(pathEnd: string): number {
    return proxy.passed.filter(({ path }) => path.endsWith(pathEnd)).length;
  }

  it('names the namespace, and what no browser or redirect would send, with each request', async () => {
    await (await open()).createDataKey('tokens', tenantId);
    for (const { headers } of proxy.passed) {
      expect(headers).to.include({ 'x-vault-namespace': transit.namespace, 'x-vault-request': 'true' });
    }
  });

  it('is refused in another namespace', async () => {
    const management = await open({ namespace: undefined });
    const error = await rejection(management.createDataKey('tokens', tenantId));
    expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
  });

  it('takes nothing from the variables that other clients of Vault read', async () => {
    const variables = {
      VAULT_TOKEN: 'wrong',
      VAULT_NAMESPACE: 'wrong',
      VAULT_PREFIX: '/wrong',
      VAULT_ADDR: 'http://127.0.0.1:1',
      HTTP_PROXY: 'http://127.0.0.1:1',
      ALL_PROXY: 'http://127.0.0.1:1',
    };
    const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
    Object.assign(process.env, variables);
    try {
      await (await open()).createDataKey('tokens', tenantId);
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    expect(proxy.passed.every(({ path }) => path.startsWith('/v1/'))).to.equal(true);
  });

  it('keeps connections open', async () => {
    const counting = await startFreezingProxy(transit.server.address);
    const management = await open({ address: counting.connectionString.replace(/\/$/, '') });
    for (let round = 0; round < 20; round++) await management.createDataKey('tokens', tenantId);
    expect(counting.connections).to.equal(1);
    await management.close();
    await counting.close();
  });

  describe('over TLS', () => {
    const address = (): Partial<TransitOptions> => ({ address: transit.server.tlsAddress });

    it('is made with a certificate of the given authority', async () => {
      const ca = () => readFile(transit.server.caFile, 'utf8');
      await (await open({ ...address(), ca })).createDataKey('tokens', tenantId);
    });

    it('is refused without the authority, and by another name than the certificate has', async () => {
      const ca = () => readFile(transit.server.caFile, 'utf8');
      const named = transit.server.tlsAddress.replace('127.0.0.1', 'localhost');
      for (const options of [address(), { address: named, ca }]) {
        const error = await rejection(open(options));
        expect(error).to.include({ kind: 'unavailable' });
        expect(error.message).to.match(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER|ALTNAME_INVALID/);
      }
    });

    it('is refused whatever VAULT_SKIP_VERIFY says', async () => {
      const before = process.env['VAULT_SKIP_VERIFY'];
      process.env['VAULT_SKIP_VERIFY'] = 'true';
      try {
        expect((await rejection(open(address()))).message).to.match(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/);
      } finally {
        if (before === undefined) delete process.env['VAULT_SKIP_VERIFY'];
        else process.env['VAULT_SKIP_VERIFY'] = before;
      }
    });
  });

  describe('repeats', () => {
    it('what failed in passing: a lost answer, an overloaded and a failing server', async () => {
      const management = await open();
      const path = '/datakey/plaintext/tokenkeep';
      proxy.loseAnswers(path, 2);
      await management.createDataKey('tokens', tenantId);
      expect(requestsTo(path)).to.equal(3);
      proxy.answerInstead(path, 1, 429);
      proxy.answerInstead(path, 1, 500);
      await management.createDataKey('tokens', tenantId);
      expect(requestsTo(path)).to.equal(6);
    });

    it('not what Vault has refused', async () => {
      const management = await open();
      const { wrapped } = await management.createDataKey('tokens', tenantId);
      await rejection(management.unwrapDataKey('tokens', randomUUID(), wrapped));
      expect(requestsTo('/decrypt/tokenkeep')).to.equal(1);
    });

    it('no rotation whose answer was lost: it makes one version', async () => {
      const management = await open();
      const { current } = await management.versions('cvc');
      proxy.loseAnswers('/keys/tokenkeep-cvc/rotate', 1);
      await management.rotate('cvc');
      expect(await management.versions('cvc')).to.include({ current: current + 1 });
      expect(requestsTo('/rotate')).to.equal(1);
    });

    it('a rotation that has not come about', async () => {
      const management = await open();
      const { current } = await management.versions('cvc');
      proxy.answerInstead('/keys/tokenkeep-cvc/rotate', 1, 500);
      await management.rotate('cvc');
      expect(await management.versions('cvc')).to.include({ current: current + 1 });
    });
  });

  it('follows no redirect, which would hand the token to another host', async () => {
    const elsewhere = await startLossyProxy(transit.server.address);
    const management = await open();
    const path = '/datakey/plaintext/tokenkeep';
    proxy.answerInstead(path, 3, 307, { location: `${elsewhere.address}/v1/transit${path}` });
    const error = await rejection(management.createDataKey('tokens', tenantId));
    expect(error.message).to.include('a redirect, which is not followed');
    expect(elsewhere.passed).to.have.length(0);
    await elsewhere.close();
  });

  it('asks with a bounded number of requests at a time', async () => {
    const counting = await startFreezingProxy(transit.server.address);
    const management = await open({ address: counting.connectionString.replace(/\/$/, '') });
    await Promise.all(Array.from({ length: 300 }, () => management.createDataKey('tokens', tenantId)));
    expect(counting.connections).to.be.lessThanOrEqual(32);
    await management.close();
    await counting.close();
  });

  describe('while Vault is away', () => {
    for (const [what, leave, comeBack] of [
      ['sealed', () => transit.server.seal(), () => transit.server.unseal()],
      ['killed', () => transit.server.kill(), () => transit.server.start()],
    ] as const) {
      it(`(${what}) fails callers at once, is told, and recovers by itself`, async function () {
        this.timeout(120_000);
        const changes: boolean[] = [];
        const management = await open({ onChange: (isUp) => changes.push(isUp) });
        const { plaintext, wrapped } = await management.createDataKey('tokens', tenantId);
        await leave();
        try {
          const error = await rejection(management.unwrapDataKey('tokens', tenantId, wrapped));
          expect(error).to.include({ name: 'DomainError', kind: 'unavailable' });
          expect(changes).to.deep.equal([true, false]);
          const before = requestsTo('/datakey/plaintext/tokenkeep');
          for (let round = 0; round < 100; round++) await rejection(management.createDataKey('tokens', tenantId));
          await rejection(management.ping());
          expect(requestsTo('/datakey/plaintext/tokenkeep')).to.equal(before);
        } finally {
          await comeBack();
        }
        await eventually(() => management.ping(), RECOVERY);
        expect(await management.unwrapDataKey('tokens', tenantId, wrapped)).to.deep.equal(plaintext);
        expect(changes).to.deep.equal([true, false, true]);
      });
    }

    it('(silent) gives up after the timeout of each try, and recovers by itself', async () => {
      const freezing = await startFreezingProxy(transit.server.address);
      const address = freezing.connectionString.replace(/\/$/, '');
      const management = await open({ address, timeoutMs: 300 });
      await management.createDataKey('tokens', tenantId);
      freezing.freeze();
      // The frozen connection is given up after one try; the next one is made anew and passes.
      await management.createDataKey('tokens', tenantId);
      await management.close();
      await freezing.close();
    });

    it('does not start, and says why', async () => {
      const error = await rejection(open({ address: 'http://127.0.0.1:1' }));
      expect(error).to.include({ kind: 'unavailable' });
      expect(error.message).to.include('ECONNREFUSED');
    });
  });

  describe('tells nobody a secret', () => {
    it('in logs or errors, nor by DEBUG of node-vault', async () => {
      const lines: string[] = [];
      const logger = createLogger({
        level: 'debug',
        format: 'json',
        destination: { write: (line) => void lines.push(line) },
      });
      const errors: string[] = [];
      const keep = (error: Error): void =>
        void errors.push(
          `${error.stack} ${JSON.stringify(error)} ${String((error.cause as Error | undefined)?.stack)}`,
        );
      const stderr = process.stderr.write.bind(process.stderr);
      process.stderr.write = (chunk: string | Uint8Array) => lines.push(String(chunk)) > 0;
      // The very instance that node-vault has.
      const debug = createRequire(import.meta.resolve('node-vault'))('debug') as Debug;
      debug.enable('*');
      let plaintext: Buffer;
      try {
        const management = await open({ logger });
        const made = await management.createDataKey('tokens', tenantId);
        ({ plaintext } = made);
        await management.unwrapDataKey('tokens', tenantId, made.wrapped);
        keep(await rejection(management.wrapDataKey('tokens', tenantId, plaintext)));
        keep(await rejection(management.unwrapDataKey('cvc', tenantId, made.wrapped)));
        proxy.answerInstead('/decrypt/tokenkeep', 3, 503);
        keep(await rejection(management.unwrapDataKey('tokens', tenantId, made.wrapped)));
        keep(await rejection(open({ auth: { method: 'token', token: `${token}x` } })));
      } finally {
        debug.disable();
        process.stderr.write = stderr;
      }
      const text = [...lines, ...errors].join('\n');
      expect(text).to.include('Vault does not answer');
      for (const secret of [token, plaintext.toString('base64'), plaintext.toString('hex')]) {
        expect(text).not.to.include(secret);
      }
    });

    it('in the audit log of Vault', async () => {
      const management = await open();
      const { plaintext, wrapped } = await management.createDataKey('tokens', tenantId);
      await management.unwrapDataKey('tokens', tenantId, wrapped);
      await rejection(management.wrapDataKey('tokens', tenantId, plaintext));
      const log = await readFile(transit.server.auditLog, 'utf8');
      expect(log).to.include('transit/datakey/plaintext/tokenkeep');
      for (const secret of [token, plaintext.toString('base64'), wrapped]) expect(log).not.to.include(secret);
    });
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { egressRules } from '../../../src/domain/egress.ts';
import { resolveBySystem } from '../../../src/platform/egress/addresses.ts';
import { createEgressClient } from '../../../src/platform/egress/client.ts';
import { EgressError } from '../../../src/platform/egress/errors.ts';
import type { EgressAnswer, EgressRequest, EgressRules } from '../../../src/platform/egress/types.ts';
import { startDnsServer, type DnsServer } from '../../support/egress/dns-server.ts';
import { hasIPv6, ownAddresses, startListeners, type Listeners } from '../../support/egress/listeners.ts';
import { requestNaively } from '../../support/egress/naive-client.ts';
import { atPort, isOfIPv6, TRICKS, ZONE } from '../../support/egress/tricks.ts';

/** Those of no policy, as far as they concern addresses: at any port and without TLS, so that a listener could hear. */
const PUBLIC: EgressRules = {
  admit: (target) => egressRules(undefined).admit({ ...target, protocol: 'https:', port: 443 }),
};
const ALLOWED = '127.0.0.2';
const PROGRAM = fileURLToPath(new URL('../../support/egress/environment-program.ts', import.meta.url));

describe('requests to the outside', () => {
  let listeners: Listeners;
  let names: DnsServer;

  before(async () => {
    listeners = await startListeners();
    names = await startDnsServer(ZONE);
  });
  after(async () => {
    await listeners.stop();
    await names.stop();
  });
  beforeEach(() => listeners.forget());

  const resolve = (host: string): Promise<string[]> =>
    host.replace(/\.$/, '') === 'localhost' ? resolveBySystem(host) : names.resolve(host);

  function send(rules: EgressRules, url: string, request: Partial<EgressRequest> = {}): Promise<EgressAnswer> {
    const allowAddress = (address: string, host: string): boolean =>
      address === ALLOWED && /^(good|rebinding|good-and-loopback)\.test$/.test(host);
    const client = createEgressClient({ rules, resolve, allowAddress });
    return client.request({ method: 'GET', url, headers: [], timeoutMs: 5_000, redirect: 'follow', ...request });
  }

  async function ruleBroken(work: Promise<EgressAnswer>): Promise<string> {
    const outcome: unknown = await work.catch((error: unknown) => error);
    return outcome instanceof EgressError ? outcome.rule : `none: ${JSON.stringify(outcome)}`;
  }

  const table: string[] = [];
  after(() => {
    if (process.env['TOKENKEEP_TEST_PRINT_CORPUS'] === 'true') process.stdout.write(`${table.join('\n')}\n`);
  });

  for (const trick of TRICKS) {
    it(`are stopped: ${trick.what}`, async () => {
      const { url, rule, request, hops = 0 } = atPort(trick, listeners.port);
      expect(await ruleBroken(send(PUBLIC, url, request))).to.equal(rule);
      expect(listeners.connections).to.deep.equal(Array<string>(hops).fill(ALLOWED));
      const shown = JSON.stringify(trick.url).slice(1, -1).slice(0, 60);
      const denied = listeners.connections.filter((address) => address !== ALLOWED).length;
      table.push(`| ${trick.what} | \`${shown}\` | ${rule} | ${denied} |`);
    });
  }

  for (const trick of TRICKS.filter(({ lands }) => lands)) {
    it(`would land on this machine without rules: ${trick.what}`, async function () {
      if (isOfIPv6(trick) && !hasIPv6()) this.skip();
      await requestNaively(atPort(trick, listeners.port).url, resolve);
      expect(listeners.connections.filter((address) => address !== ALLOWED)).to.have.length(1);
    });
  }

  it('are tried in more than 60 ways, of which many would land', () => {
    expect(new Set(TRICKS.map(({ what }) => what)).size).to.equal(TRICKS.length);
    expect(TRICKS.length).to.be.above(120);
    expect(TRICKS.filter(({ lands }) => lands).length).to.be.above(40);
  });

  it('reach what is allowed, also where an answer leads there', async () => {
    const { port } = listeners;
    const direct = await send(PUBLIC, `http://good.test:${port}/path?a=b`);
    expect({ ...direct, body: direct.body.toString() }).to.deep.include({
      status: 200,
      body: 'hello',
      redirected: false,
    });
    const location = encodeURIComponent('/there');
    const led = await send(PUBLIC, `http://good.test:${port}/to?status=302&location=${location}`);
    expect(led).to.deep.include({ status: 200, redirected: true, url: `http://good.test:${port}/there` });
    expect(listeners.connections).to.deep.equal([ALLOWED, ALLOWED, ALLOWED]);
  });

  it('go to the address that was checked, though the name has another one a moment later', async () => {
    const before = names.asked.length;
    const url = `http://rebinding.test:${listeners.port}/`;
    expect(await send(PUBLIC, url)).to.have.property('status', 200);
    // Once for each address family.
    expect(names.asked.slice(before)).to.deep.equal(['rebinding.test', 'rebinding.test']);
    expect(listeners.connections).to.deep.equal([ALLOWED]);
    expect(await ruleBroken(send(PUBLIC, url))).to.equal('address');
    expect(listeners.connections).to.deep.equal([ALLOWED]);
  });

  describe('by a policy', () => {
    const never = Object.keys(ZONE).filter((name) => !/^(good|rebinding|private|unique-local|chain-two)/.test(name));
    const policy = (...allow: string[]): EgressRules =>
      egressRules({ allow: allow.map((entry) => `${entry}:${listeners.port}`) });

    for (const name of never) {
      it(`are stopped even where it names the host: ${name}`, async () => {
        const failure = await send(policy(name, 'good.test'), `http://${name}:${listeners.port}/`).catch(String);
        // What a name resolves to is not told: it may be one that only this network knows.
        expect(failure).to.equal(`EgressError: ${name} has no address that may be called`);
        expect(listeners.connections).to.deep.equal([]);
      });
    }

    it('reach a private address that it names, and no other port or name', async function () {
      const [own] = ownAddresses();
      if (own === undefined) return this.skip();
      const host = own.includes(':') ? `[${own}]` : own;
      const url = `http://${host}:${listeners.port}/`;
      expect(await send(policy(host), url)).to.have.property('status', 200);
      expect(listeners.connections).to.deep.equal([own]);
      expect(await ruleBroken(send(egressRules({ allow: [host] }), url))).to.equal('port');
      expect(await ruleBroken(send(policy('good.test'), url))).to.equal('host');
      expect(await ruleBroken(send(egressRules(undefined), url))).to.equal('scheme');
      expect(await ruleBroken(send(egressRules(undefined), url.replace('http', 'https')))).to.equal('port');
      expect(listeners.connections).to.have.length(1);
    });

    it('stay with it where an answer leads elsewhere', async () => {
      const url = `http://good.test:${listeners.port}/to?status=302&location=`;
      expect(await ruleBroken(send(policy('good.test'), `${url}http://public.example/`))).to.equal('host');
      expect(await ruleBroken(send(policy('good.test'), `${url}http://good.test:1/`))).to.equal('port');
      expect(listeners.connections).to.deep.equal([ALLOWED, ALLOWED]);
    });
  });

  it('take no proxy from the environment, where Node itself would', async () => {
    const proxy = await startListeners();
    const address = `http://127.0.0.1:${proxy.port}`;
    const run = async (how: string): Promise<number | null> => {
      const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
      const env = {
        ...process.env,
        NODE_USE_ENV_PROXY: '1',
        ...Object.fromEntries(names.map((name) => [name, address])),
      };
      const child = spawn(process.execPath, [PROGRAM, how, String(listeners.port)], { env, stdio: 'ignore' });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    };
    try {
      expect(await run('node')).to.equal(0);
      expect([proxy.connections.length, listeners.connections.length]).to.deep.equal([1, 0]);
      expect(await run('ours')).to.equal(0);
      expect([proxy.connections.length, listeners.connections.length]).to.deep.equal([1, 1]);
    } finally {
      await proxy.stop();
    }
  });
});

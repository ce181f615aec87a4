import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createPlainServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { expect } from 'chai';
import { API_CLIENT_NAME, reactorServerName } from '../../../src/domain/reactor-certificates.ts';
import { createAuthority } from '../../../src/operator/workloads/certificates.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { openServerCertificate, tlsFilesOf } from '../../../src/platform/server-certificate.ts';
import type { KeyPair, ServerCertificate } from '../../../src/platform/server-certificate.ts';
import { createSvcHandler } from '../../../src/reactors/host/svc.ts';
import { startSupervisor } from '../../../src/reactors/host/supervisor.ts';
import { createTransport } from '../../../src/reactors/transport.ts';
import type { SvcAccess } from '../../../src/reactors/types.ts';
import { createTestCredentials } from '../../support/reactors/credentials.ts';
import type { Differences, TestCredentials } from '../../support/reactors/credentials.ts';
import { workloadOf } from '../../support/reactors.ts';

const DAY_MS = 24 * 60 * 60_000;
const KEY = 'key_for_this_run';
const REFUSED = { ok: false, class: 'ServiceUnavailableError', status: 503, errors: 'The API did not answer.' };
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"id":"a"}';

/** Answers anything, and keeps whatever came in, deciphered. */
interface Listening {
  url: string;
  heard(): string;
  close(): void;
}

const UNDER_WAY = { signal: new AbortController().signal, hold: () => true };

describe('svc of a reactor on a network', function () {
  this.timeout(30_000);
  let folder: string;
  let credentials: TestCredentials;
  const open: { close(): unknown }[] = [];

  const openFolder = async (at: string): Promise<ServerCertificate> => {
    const opened = await openServerCertificate({ ...tlsFilesOf(at), logger: silentLogger });
    open.push(opened);
    return opened;
  };
  async function listenAs({ cert, key }: KeyPair): Promise<Listening> {
    let heard = '';
    const server: Server = createServer({ cert, key }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString('latin1');
        socket.write(ANSWER);
      });
    });
    server.on('connection', (socket) => open.push({ close: () => socket.destroy() }));
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(server);
    const { port } = server.address() as AddressInfo;
    return { url: `https://127.0.0.1:${port}`, heard: () => heard, close: () => server.close() };
  }
  async function apiWith(name: string, differences: Differences): Promise<Listening> {
    const at = await credentials.client(name, { usage: 'server', ...differences });
    return listenAs((await openFolder(at)).current);
  }
  const accessAt = (baseUrl: string, change: Partial<SvcAccess> = {}): SvcAccess => ({
    ...{ baseUrl, headerPrefix: 'OWN', key: KEY, serverName: API_CLIENT_NAME, ...change },
  });
  const authorities = () => credentials.authority.certificate;
  const ask = async (access: SvcAccess, ...[trusted]: (typeof authorities | undefined)[]): Promise<unknown> =>
    JSON.parse(
      await createSvcHandler(access, 'trace', () => 2_000, trusted)('tokens.retrieve', '{"id":"a"}', UNDER_WAY),
    );

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-svc-tls-'));
    credentials = await createTestCredentials(folder);
  });
  after(async () => {
    for (const each of open) each.close();
    await rm(folder, { recursive: true });
  });

  it('calls the API that proves to be it', async () => {
    const api = await apiWith('api', {});
    expect(await ask(accessAt(api.url), authorities)).to.deep.equal({ ok: true, value: { id: 'a' } });
    expect(api.heard())
      .to.match(/^GET \/tokens\/a HTTP\/1\.1\r\n/)
      .and.include(KEY);
  });

  it('does so from the pod of an instance, by the authorities that are mounted there', async () => {
    const api = await apiWith('api-of-pod', {});
    const workload = workloadOf('module.exports = async ({ svc }) => ({ raw: await svc.tokens.retrieve("a") });');
    const certificate = await openFolder(await credentials.server('instance', workload));
    let address = '';
    const access = { host: '127.0.0.1', port: 0, certificate, lingerMs: 0 };
    const supervisor = await startSupervisor({ mode: 'run', workload }, access, (line) => {
      if ('listening' in line) address = line.listening;
    });
    const transport = createTransport({ identity: await openFolder(await credentials.client('caller')) });
    open.push(transport);
    const { tenantId, reactorId, revision } = workload;
    const instance = { address, credential: '', revision, serverName: reactorServerName(tenantId, reactorId) };
    const run = (svc: SvcAccess) =>
      transport.invoke(
        instance,
        { tenantId, reactorId, revision, args: {}, svc, traceId: 'trace', timeoutMs: 5_000 },
        () => undefined,
      );
    try {
      expect(await run(accessAt(api.url))).to.deep.equal({
        refused: false,
        outcome: { kind: 'returned', raw: { id: 'a' } },
      });
      const stranger = await apiWith('stranger-of-pod', { authority: await createAuthority(Date.now()) });
      expect(await run(accessAt(stranger.url))).to.have.nested.property('outcome.status', 503);
      expect(stranger.heard()).to.equal('');
    } finally {
      await supervisor!.stop(0);
    }
  });

  describe('says not a byte to', () => {
    const impostors: Record<string, () => Promise<Differences>> = {
      'one of another authority': async () => ({ authority: await createAuthority(Date.now()) }),
      'one of another name': async () => ({ name: 'other.tokenkeep.internal' }),
      'one that shows the certificate by which the API calls instances': async () => ({ usage: 'client' }),
      'an instance of another reactor': async () => ({ name: reactorServerName('tenant', 'other') }),
      'one whose certificate has expired': async () => ({ ageMs: 40 * DAY_MS }),
    };
    for (const [which, differences] of Object.entries(impostors)) {
      it(which, async () => {
        const impostor = await apiWith(which.replaceAll(' ', '-'), await differences());
        for (let turn = 0; turn < 2; turn += 1)
          expect(await ask(accessAt(impostor.url), authorities)).to.deep.equal(REFUSED);
        expect(impostor.heard()).to.equal('');
      });
    }

    it('one that is to be called by its address, without a name', async () => {
      const api = await apiWith('nameless', {});
      const { serverName: _, ...nameless } = accessAt(api.url);
      expect(await ask(nameless, authorities)).to.deep.equal(REFUSED);
      expect(api.heard()).to.equal('');
    });

    it('one that is named where it has no authorities to know it by', async () => {
      const api = await apiWith('unknown', {});
      expect(await ask(accessAt(api.url))).to.deep.equal(REFUSED);
      expect(api.heard()).to.equal('');
    });
  });

  it('opens no connection in clear', async () => {
    let connections = 0;
    const plain = createPlainServer((socket) => {
      connections += 1;
      socket.end(ANSWER);
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    open.push(plain);
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    expect(await ask(accessAt(url), authorities)).to.deep.equal(REFUSED);
    expect(connections).to.equal(0);
    // The control: on one machine, without authorities, it is called.
    const { serverName: _, ...local } = accessAt(url);
    expect(await createSvcHandler(local, 'trace', () => 2_000)('tokens.retrieve', '{"id":"a"}', UNDER_WAY)).to.include(
      '"ok":true',
    );
    expect(connections).to.equal(1);
  });

  it('knows it by authorities that were replaced since', async () => {
    const next = await createAuthority(Date.now());
    const renewed = await apiWith('renewed', { authority: next });
    let trusted = credentials.authority.certificate;
    expect(await ask(accessAt(renewed.url), () => trusted)).to.deep.equal(REFUSED);
    trusted += next.certificate;
    expect(await ask(accessAt(renewed.url), () => trusted)).to.deep.include({ ok: true });
    trusted = credentials.authority.certificate;
    // A connection that was kept open is none for whoever believes others.
    expect(await ask(accessAt(renewed.url), () => trusted)).to.deep.equal(REFUSED);
  });
});

import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { expect } from 'chai';
import type { ReactorInstance, ReactorWorkload } from '../../../src/domain/declarations.ts';
import { reactorServerName } from '../../../src/domain/reactor-certificates.ts';
import { createAuthority } from '../../../src/operator/workloads/certificates.ts';
import { createLogger, silentLogger } from '../../../src/platform/logger.ts';
import { openServerCertificate, tlsFilesOf } from '../../../src/platform/server-certificate.ts';
import type { ServerCertificate } from '../../../src/platform/server-certificate.ts';
import { startSupervisor } from '../../../src/reactors/host/supervisor.ts';
import type { Supervisor } from '../../../src/reactors/host/supervisor.ts';
import { createTransport } from '../../../src/reactors/transport.ts';
import type { Attempt, Transport } from '../../../src/reactors/transport.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestCredentials } from '../../support/reactors/credentials.ts';
import type { Differences, TestCredentials } from '../../support/reactors/credentials.ts';
import { workloadOf } from '../../support/reactors.ts';

const DAY_MS = 24 * 60 * 60_000;
const CODE = 'let runs = 0; module.exports = async () => ({ raw: { runs: ++runs } });';

describe('API and instance on a network', () => {
  const workload = workloadOf(CODE);
  const ran: Attempt<InvocationOutcome> = { refused: false, outcome: { kind: 'returned', raw: { runs: 1 } } };
  let folder: string;
  let credentials: TestCredentials;
  let certificate: ServerCertificate;
  let served: { supervisor: Supervisor; address: string };
  const open: { close(): void }[] = [];

  const openFolder = async (at: string): Promise<ServerCertificate> => {
    const opened = await openServerCertificate({ ...tlsFilesOf(at), logger: silentLogger, everyMs: 20 });
    open.push(opened);
    return opened;
  };

  async function serve(
    identity: ServerCertificate,
    lingerMs = 0,
    of: ReactorWorkload = workload,
  ): Promise<typeof served> {
    let address = '';
    const access = { host: '127.0.0.1', port: 0, certificate: identity, lingerMs };
    const supervisor = await startSupervisor({ mode: 'run', workload: of }, access, (line) => {
      if ('listening' in line) address = line.listening;
    });
    return { supervisor: supervisor!, address };
  }

  const instanceAt = (address: string, overrides: Partial<ReactorInstance> = {}): ReactorInstance => ({
    ...{ address, credential: '', revision: workload.revision },
    serverName: reactorServerName(workload.tenantId, workload.reactorId),
    ...overrides,
  });

  function call(
    transport: Transport,
    instance: ReactorInstance,
    timeoutMs = 5_000,
  ): Promise<Attempt<InvocationOutcome>> {
    const { tenantId, reactorId, revision } = workload;
    const invocation = { tenantId, reactorId, revision, args: {}, traceId: 'trace', timeoutMs };
    return transport.invoke(instance, invocation, () => undefined);
  }

  async function transportOf(at: string | undefined, lines: string[] = []): Promise<Transport> {
    const identity = at === undefined ? undefined : await openFolder(at);
    const logger = createLogger({ level: 'info', format: 'json', destination: { write: (line) => lines.push(line) } });
    const transport = createTransport({ identity, logger });
    open.push(transport);
    return transport;
  }

  /** What a client gets that sends a whole request along with its last word of the handshake. */
  async function rawAnswer(options: ConnectionOptions): Promise<string> {
    const { port } = new URL(served.address);
    const servername = reactorServerName(workload.tenantId, workload.reactorId);
    const ca = credentials.authority.certificate;
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca, servername, ...options });
    const { promise, resolve } = Promise.withResolvers<string>();
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(answer));
    socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    return promise;
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-mutual-tls-'));
    credentials = await createTestCredentials(folder);
    certificate = await openFolder(await credentials.server('server', workload));
    served = await serve(certificate);
  });
  after(async () => {
    await served.supervisor.stop(0);
    for (const each of open) each.close();
    await rm(folder, { recursive: true });
  });

  it('know each other by their certificates', async () => {
    const transport = await transportOf(await credentials.client('api'));
    for (let turn = 0; turn < 2; turn += 1) {
      // Each run has a context of its own.
      expect(await call(transport, instanceAt(served.address))).to.deep.equal(ran);
    }
  });

  describe('the instance lets nobody in', () => {
    const strangers: Record<string, () => Promise<Differences>> = {
      'of another authority': async () => ({ authority: await createAuthority(Date.now()) }),
      'of another name': async () => ({ name: 'other.tokenkeep.internal' }),
      'that is another reactor': async () => ({ name: reactorServerName('tenant', 'other'), usage: 'server' }),
      'by a certificate for servers': async () => ({ usage: 'server' }),
      'by a certificate that has expired': async () => ({ ageMs: 40 * DAY_MS }),
      'by a certificate that is not good yet': async () => ({ ageMs: -DAY_MS }),
    };
    for (const [which, differences] of Object.entries(strangers)) {
      it(which, async () => {
        const at = await credentials.client(which.replaceAll(' ', '-'), await differences());
        const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => readFile(join(at, name), 'utf8')));
        expect(await rawAnswer({ cert: cert!, key: key! })).to.equal('');
        // With TLS 1.3 the client learns of it only after its first bytes; the arguments had to wait for an answer.
        const attempt = await call(await transportOf(at), instanceAt(served.address));
        expect(attempt).to.deep.equal({ refused: true });
      });
    }

    it('without a certificate', async () => {
      expect(await rawAnswer({})).to.equal('');
    });

    it('by an older version of TLS', async () => {
      const at = await credentials.client('older');
      const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => readFile(join(at, name), 'utf8')));
      expect(await rawAnswer({ cert: cert!, key: key!, maxVersion: 'TLSv1.2' })).to.equal('');
      expect(await rawAnswer({ cert: cert!, key: key! })).to.match(/^HTTP\/1\.1 200 /);
    });
  });

  describe('the API sends nothing to', () => {
    const impostors: Record<string, [() => Promise<Differences>, RegExp]> = {
      'an instance of another reactor': [
        async () => ({ name: reactorServerName('tenant', 'other') }),
        /ERR_TLS_CERT_ALTNAME_INVALID/,
      ],
      'one of another authority': [
        async () => ({ authority: await createAuthority(Date.now()) }),
        /UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT_LOCALLY)/,
      ],
      'one that shows a certificate for clients': [async () => ({ usage: 'client' }), /INVALID_PURPOSE/],
      'one whose certificate has expired': [async () => ({ ageMs: 40 * DAY_MS }), /CERT_HAS_EXPIRED/],
    };
    for (const [which, [differences, told]] of Object.entries(impostors)) {
      it(which, async () => {
        const at = await credentials.server(which.replaceAll(' ', '-'), workload, await differences());
        const impostor = await serve(await openFolder(at));
        try {
          const lines: string[] = [];
          const transport = await transportOf(await credentials.client(`api-${which.replaceAll(' ', '-')}`), lines);
          for (let turn = 0; turn < 3; turn += 1) {
            expect(await call(transport, instanceAt(impostor.address))).to.deep.equal({ refused: true });
          }
          expect(lines).to.have.lengthOf(1);
          expect(lines[0]).to.match(told).and.include(workload.reactorId);
        } finally {
          await impostor.supervisor.stop(0);
        }
      });
    }

    it('any of them where it has no certificate itself', async () => {
      const lines: string[] = [];
      const transport = await transportOf(undefined, lines);
      expect(await call(transport, instanceAt(served.address))).to.deep.equal({ refused: true });
      expect(lines.join('')).to.include('--reactor-tls-dir');
    });

    it('one that is named and not called by TLS', async () => {
      const transport = await transportOf(await credentials.client('plain'));
      const plain = instanceAt(served.address.replace('https', 'http'));
      expect(await call(transport, plain)).to.deep.equal({ refused: true });
    });
  });

  it('take up certificates that are replaced under way, of another authority too', async () => {
    const [own, other] = [await createTestCredentials(join(folder, 'own')), await createAuthority(Date.now())];
    const [serverAt, clientAt] = [await own.server('server', workload), await own.client('client')];
    const { supervisor, address } = await serve(await openFolder(serverAt));
    try {
      const transport = await transportOf(clientAt);
      expect(await call(transport, instanceAt(address))).to.deep.equal(ran);
      const next = await createTestCredentials(join(folder, 'own'), other);
      await next.server('server', workload);
      await next.client('client');
      const stranger = await transportOf(await credentials.client('stranger'));
      await eventually(async () => expect(await call(transport, instanceAt(address))).to.deep.equal(ran));
      expect((await call(stranger, instanceAt(address))).refused).to.equal(true);
      // The connection that stood was not the one that was used.
      const { serialNumber } = new X509Certificate(await readFile(join(serverAt, 'tls.crt')));
      await eventually(async () => expect(await serialOf(address)).to.equal(serialNumber));
    } finally {
      await supervisor.stop(0);
    }
  });

  async function serialOf(address: string): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(address).port), rejectUnauthorized: false });
    socket.on('error', () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('secureConnect', resolve);
    await promise;
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  it('part without a failed call: an instance that leaves says so before it closes', async () => {
    const leaving = await serve(certificate, 400, {
      ...workload,
      code: `module.exports = async ({ args }) => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { raw: 'done' };
      };`,
    });
    const transport = await transportOf(await credentials.client('parting'));
    const done = { refused: false, outcome: { kind: 'returned', raw: 'done' } };
    const running = call(transport, instanceAt(leaving.address));
    // Asked first, while it still takes things on.
    await eventually(async () =>
      expect(await call(transport, instanceAt(leaving.address))).to.deep.equal({ refused: true }),
    );
    let stopped = false;
    const stopping = leaving.supervisor.stop(5_000).then(() => (stopped = true));
    let calls = 0;
    while (!stopped) {
      expect(await call(transport, instanceAt(leaving.address))).to.deep.equal({ refused: true });
      calls += 1;
    }
    await stopping;
    expect(calls).to.be.greaterThan(3);
    expect(await running).to.deep.equal(done);
  });

  it('do not repeat what may have begun: a connection that breaks after the request is a crash', async () => {
    const slow = await serve(certificate, 0, {
      ...workload,
      code: 'module.exports = () => new Promise(() => undefined);',
    });
    const transport = await transportOf(await credentials.client('breaking'));
    const running = call(transport, instanceAt(slow.address));
    await eventually(async () =>
      expect(await call(transport, instanceAt(slow.address))).to.deep.equal({ refused: true }),
    );
    await slow.supervisor.stop(0);
    expect(await running).to.deep.equal({ refused: false, outcome: { kind: 'crashed' } });
    expect(await call(transport, instanceAt(slow.address))).to.deep.equal({ refused: true });
  });
});

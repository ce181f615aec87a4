import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { createInternalClient, type InternalApiError } from '../../../src/operator/internal-client.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { startHttpServer, type HttpServer } from '../../../src/platform/http-server.ts';
import { openServerCertificate, type ServerCertificate } from '../../../src/platform/server-certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { rejection } from '../../support/rejection.ts';
import { issueCertificate, type IssuedCertificate } from '../../support/roles/issue-certificate.ts';
import { requireTransitServer, type TransitServer } from '../../support/transit.ts';

describe('TLS of the internal API', function () {
  this.timeout(60_000);
  let authority: TransitServer;
  let folder: string;
  let issued: IssuedCertificate;
  let certificate: ServerCertificate;
  let server: HttpServer;
  let warnings: string[];
  /** Requests that came, by their path. */
  let requests: string[];

  before(async function () {
    authority = await requireTransitServer(this);
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-tls-'));
    issued = await issueCertificate(authority, folder);
    warnings = [];
    const logger = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) };
    certificate = await openServerCertificate({ ...issued, logger, everyMs: 20 });
    requests = [];
    server = await startHttpServer({
      ...{ host: '127.0.0.1', port: 0, portFlag: '--internal-port', certificate },
      listener: (request, response) => {
        requests.push(request.url ?? '');
        response.end('{"data":[]}');
      },
    });
  });
  afterEach(async () => {
    await server.close(0);
    certificate.close();
    await rm(folder, { recursive: true });
  });

  const access = (caFile: string) => ({
    baseUrl: `https://127.0.0.1:${server.port}`,
    token: 'token',
    ca: () => readFile(caFile, 'utf8'),
  });

  /** The serial number of what is presented to a new connection, and the version of TLS that was agreed on. */
  function handshake(
    options: { maxVersion?: 'TLSv1.1' | 'TLSv1.2' } = {},
  ): Promise<{ serial: string; version: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ serial: string; version: string }>();
    // Who it is, is what is looked at. Version 1.1 is left out of what this Node would offer by itself.
    const old = options.maxVersion === 'TLSv1.1' ? { minVersion: 'TLSv1.1' as const, ciphers: 'ALL:@SECLEVEL=0' } : {};
    const at = { host: '127.0.0.1', port: server.port, rejectUnauthorized: false };
    const socket = connect({ ...at, ...old, ...options }, () => {
      resolve({ serial: socket.getPeerCertificate().serialNumber, version: socket.getProtocol() ?? '' });
      socket.destroy();
    });
    socket.once('error', reject);
    return promise;
  }

  it('is what the client of the operator trusts by the authority that it is told of, and by no other', async () => {
    expect(await createInternalClient(access(authority.caFile)).listDemand()).to.deep.equal([]);
    const { ca: _left, ...systems } = access(authority.caFile);
    const error = (await rejection(createInternalClient(systems).listDemand())) as InternalApiError;
    expect([error.name, error.status]).to.deep.equal(['InternalApiError', undefined]);
    expect(requests).to.have.length(1);
  });

  it('is that of the Service where a replica is called by its address, and of no other name', async () => {
    const trusted = access(authority.caFile);
    const named = (serverName: string) => createInternalClient({ ...trusted, serverName }).listDemand();
    expect(await named('api.test')).to.deep.equal([]);
    const error = (await rejection(named('another.example'))) as InternalApiError;
    expect([error.name, error.status]).to.deep.equal(['InternalApiError', undefined]);
    expect(requests).to.have.length(1);
  });

  it('takes versions 1.2 and 1.3, and none before', async () => {
    expect((await handshake()).version).to.equal('TLSv1.3');
    expect((await handshake({ maxVersion: 'TLSv1.2' })).version).to.equal('TLSv1.2');
    await rejection(handshake({ maxVersion: 'TLSv1.1' }));
  });

  it('presents a renewed certificate without a restart, and connections that stand go on', async () => {
    const client = createInternalClient(access(authority.caFile));
    await client.listDemand();
    const renewed = await issueCertificate(authority, folder);
    expect(renewed.serialNumber).not.to.equal(issued.serialNumber);
    await eventually(async () => expect((await handshake()).serial).to.equal(renewed.serialNumber));
    expect(await client.listDemand()).to.deep.equal([]);
    client.close();
    expect(await createInternalClient(access(authority.caFile)).listDemand()).to.deep.equal([]);
  });

  it('stays with its certificate while the files do not belong together', async () => {
    await writeFile(issued.keyFile, 'not a key');
    await eventually(() => expect(warnings).to.include('The new certificate cannot be used: the one before it stays'));
    expect((await handshake()).serial).to.equal(issued.serialNumber);
  });

  it('does not begin with files that hold no certificate and its key, and names them', async () => {
    const other = await mkdtemp(join(tmpdir(), 'tokenkeep-tls-'));
    const { keyFile } = await issueCertificate(authority, other);
    const error = await rejection(openServerCertificate({ certFile: issued.certFile, keyFile, logger: silentLogger }));
    expect(error.message).to.include(issued.certFile).and.include(keyFile);
    await rm(other, { recursive: true });
  });
});

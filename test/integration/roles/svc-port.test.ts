import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { API_CLIENT_NAME, CHECKER_SERVER_NAME, SVC_FILES } from '../../../src/domain/reactor-certificates.ts';
import { createAuthority, issueCertificate, type KeyPair } from '../../../src/operator/workloads/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createTestCredentials } from '../../support/reactors/credentials.ts';
import { rejection } from '../../support/rejection.ts';
import { startApiProgram, type ApiProgram } from '../../support/roles/api-program.ts';
import { createTestTransit, requireTransitServer, type TestTransit } from '../../support/transit.ts';

/** Where code in pods calls the API: by TLS, which shows who it is; who calls is shown by the key of the call. */
describe('tokenkeep api --svc-port', function () {
  this.timeout(120_000);
  let transit: TestTransit;
  let folder: string;
  let database: TestDatabase;
  let api: ApiProgram;
  let authority: KeyPair;
  let address: string;

  before(async function () {
    transit = await createTestTransit(await requireTransitServer(this));
    await transit.makeKeys();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-svc-'));
    database = await createTestDatabase();
    await writeFile(join(folder, 'secret'), 'shared-secret-of-the-test\n');
    const credentials = await createTestCredentials(folder);
    authority = credentials.authority;
    const tls = await credentials.client('tls');
    const svc = await issueCertificate(authority, { name: API_CLIENT_NAME, usage: 'server' }, Date.now());
    await writeFile(join(tls, SVC_FILES.certFile), svc.certificate);
    await writeFile(join(tls, SVC_FILES.keyFile), svc.key);
    const internal = ['--internal-auth', 'token', '--internal-token-file', join(folder, 'secret')];
    api = await startApiProgram({
      ...{ database, transit, vaultToken: await transit.tokenFor('tokenkeep-api') },
      flags: [...internal, '--reactor-tls-dir', tls, '--svc-port', '0'],
    });
    address = /^API for reactors (https:\S+)$/m.exec(api.output().stdout)![1]!;
  });
  after(async () => {
    await api?.stop();
    await database?.dispose();
    await transit?.dispose();
    if (folder) await rm(folder, { recursive: true });
  });

  /** Status of an answer to one that knows the API by the certificate of `ca` for `servername`. */
  function call(ca: string, servername: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const headers = { 'tokenkeep-api-key': 'no-such-key' };
    request(`${address}/tokens`, { ca, servername, headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    })
      .once('error', reject)
      .end();
    return promise;
  }

  it('is the API, shown by the certificate for svc, and wants a key', async () => {
    expect(await call(authority.certificate, API_CLIENT_NAME)).to.equal(401);
  });

  it('is nobody else to one that trusts another authority, or looks for another name', async () => {
    const other = await createAuthority(Date.now());
    const failures = [
      await rejection(call(other.certificate, API_CLIENT_NAME)),
      await rejection(call(authority.certificate, CHECKER_SERVER_NAME)),
    ] as NodeJS.ErrnoException[];
    expect(failures.map(({ code }) => code)).to.deep.equal([
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ]);
  });

  it('answers nothing without TLS, and the public port none by it', async () => {
    await rejection(fetch(`${address.replace('https:', 'http:')}/readyz`));
    await rejection(fetch(`${api.baseUrl.replace('http:', 'https:')}/readyz`));
  });

  it('does not have the internal API', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const options = { ca: authority.certificate, servername: API_CLIENT_NAME, agent: false as const };
    request(`${address}/internal/reactors`, options, (answer) => resolve(answer.resume().statusCode!))
      .once('error', reject)
      .end();
    expect(await promise).to.equal(404);
  });
});

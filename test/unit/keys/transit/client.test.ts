import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createVaultClient, type VaultClient } from '../../../../src/keys/transit/client.ts';
import type { VaultAway } from '../../../../src/keys/transit/failures.ts';
import { createAuthority, issueCertificate } from '../../../../src/operator/workloads/certificates.ts';
import { rejection } from '../../../support/rejection.ts';

describe('the client of Vault, where its certificate is of an authority of its own', () => {
  let server: Server;
  let client: VaultClient;
  /** What it is told to trust. */
  let trusted: () => Promise<string>;

  /** Has the server present a certificate of a new authority from now on. */
  async function renew(): Promise<string> {
    const authority = await createAuthority(Date.now());
    const { certificate, key } = await issueCertificate(authority, { name: 'localhost', usage: 'server' }, Date.now());
    server.setSecureContext({ cert: certificate, key });
    return authority.certificate;
  }

  const ask = () => client.read('auth/token/lookup-self', 'token');

  beforeEach(async () => {
    server = createServer((_request, response) =>
      response.writeHead(200, { connection: 'close' }).end('{"data":{"id":"1"}}'),
    );
    const authority = await renew();
    trusted = () => Promise.resolve(authority);
    await once(server.listen(0, 'localhost'), 'listening');
    const address = `https://localhost:${(server.address() as AddressInfo).port}`;
    client = createVaultClient({ address, namespace: undefined, ca: () => trusted(), timeoutMs: 5_000 });
  });
  afterEach(() => {
    client.close();
    server.close();
  });

  it('takes a renewed authority without a restart, and trusts no other', async () => {
    expect((await ask()).data).to.deep.equal({ id: '1' });
    const renewed = await renew();
    const error = (await rejection(ask())) as VaultAway;
    expect([error.name, error.reason]).to.deep.equal(['VaultAway', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']);
    trusted = () => Promise.resolve(renewed);
    expect((await ask()).data).to.deep.equal({ id: '1' });
  });

  it('says that it cannot read them, until it can', async () => {
    const before = trusted;
    trusted = () => Promise.reject(new Error('ENOENT'));
    const error = (await rejection(ask())) as VaultAway;
    expect([error.name, error.reason]).to.deep.equal(['VaultAway', 'the file of its authorities cannot be read']);
    trusted = before;
    expect((await ask()).data).to.deep.equal({ id: '1' });
  });
});

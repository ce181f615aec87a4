import { join } from 'node:path';
import { API_CLIENT_NAME, reactorServerName } from '../../../src/domain/reactor-certificates.ts';
import { createAuthority, issueCertificate } from '../../../src/operator/workloads/certificates.ts';
import type { KeyPair } from '../../../src/operator/workloads/certificates.ts';
import { mountSecret } from '../kubernetes/mounted-secret.ts';

/** What is not as in a certificate that opens, or shows, an instance of a reactor. */
export interface Differences {
  name?: string;
  usage?: 'server' | 'client';
  /** When it was made, in ms before now: they are good for 30 days. */
  ageMs?: number;
  authority?: KeyPair;
}

/** An authority with what it issues, in folders as pods have them. */
export interface TestCredentials {
  readonly authority: KeyPair;
  /** Of the API unless told; resolves with the folder. */
  client(name: string, differences?: Differences): Promise<string>;
  /** Of an instance of the reactor unless told; resolves with the folder. */
  server(name: string, reactor: { tenantId: string; reactorId: string }, differences?: Differences): Promise<string>;
}

export async function createTestCredentials(folder: string, authority?: KeyPair): Promise<TestCredentials> {
  const own = authority ?? (await createAuthority(Date.now()));

  async function write(name: string, usual: Required<Pick<Differences, 'name' | 'usage'>>, differences: Differences) {
    const { ageMs = 0, authority: issuer = own, ...subject } = { ...usual, ...differences };
    const issued = await issueCertificate(issuer, subject, Date.now() - ageMs);
    const at = join(folder, name);
    await mountSecret(at, { 'tls.crt': issued.certificate, 'tls.key': issued.key, 'ca.crt': own.certificate });
    return at;
  }

  return {
    authority: own,
    client: (name, differences = {}) => write(name, { name: API_CLIENT_NAME, usage: 'client' }, differences),
    server: (name, { tenantId, reactorId }, differences = {}) =>
      write(name, { name: reactorServerName(tenantId, reactorId), usage: 'server' }, differences),
  };
}

import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TransitServer } from '../transit.ts';

export interface IssuedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** As a certificate shows it: hexadecimal, in upper case. */
  readonly serialNumber: string;
}

/** A certificate for 127.0.0.1 and api.test of the authority of `server.caFile`, written to `tls.crt` and `tls.key` of a folder. */
export async function issueCertificate(server: TransitServer, folder: string): Promise<IssuedCertificate> {
  const wanted = { common_name: 'api.test', ip_sans: '127.0.0.1', ttl: '24h' };
  const { status, body } = await server.request({ method: 'POST', path: 'pki/issue/server', body: wanted });
  if (status !== 200) throw new Error(`no certificate: ${JSON.stringify(body)}`);
  const { certificate, private_key: key, serial_number: serial } = body.data;
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await replace(keyFile, `${key}\n`);
  await replace(certFile, `${certificate}\n`);
  return { certFile, keyFile, serialNumber: (serial as string).replaceAll(':', '').toUpperCase() };
}

/** At once, as Kubernetes replaces what it mounts. */
async function replace(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from './logger.ts';

/** PEM: a certificate with those that lead to its authority, and the private key of the first. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  /** The authorities that the other side's certificate may be of; those of the system where there is none. */
  readonly ca?: string;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile?: string;
}

/** The certificate by which this process is known on TLS connections, as it is now in its files. */
export interface ServerCertificate {
  readonly current: KeyPair;
  /** Called with each new pair. */
  onChange(listener: (pair: KeyPair) => void): void;
  close(): void;
}

export interface ServerCertificateOptions extends CertificateFiles {
  readonly logger: Logger;
  /** How often the files are looked at, in ms. */
  readonly everyMs?: number;
}

/** Certificates are renewed days before they end. */
const EVERY_MS = 10_000;

/** As Kubernetes and cert-manager name the entries of a Secret of type kubernetes.io/tls. */
export const TLS_FILES = { certFile: 'tls.crt', keyFile: 'tls.key', caFile: 'ca.crt' } as const;

/** The files of a folder that a Secret of type kubernetes.io/tls is mounted at. */
export function tlsFilesOf(folder: string): Required<CertificateFiles> {
  const { certFile, keyFile, caFile } = TLS_FILES;
  return { certFile: join(folder, certFile), keyFile: join(folder, keyFile), caFile: join(folder, caFile) };
}

/**
 * Reads a certificate, and reads it again for as long as it is not closed: files that are mounted are replaced by
 * another link, which no watch of a file notices. A pair that does not fit, as when one file is replaced before the
 * other, leaves the one before it in use. Rejects with a message that names the files where the first does not fit.
 */
export async function openServerCertificate(options: ServerCertificateOptions): Promise<ServerCertificate> {
  const { logger, everyMs = EVERY_MS, certFile } = options;
  const listeners: ((pair: KeyPair) => void)[] = [];
  let current = await readKeyPair(options);

  async function look(): Promise<void> {
    try {
      const next = await readKeyPair(options);
      if (next.cert === current.cert && next.key === current.key && next.ca === current.ca) return;
      current = next;
      for (const listener of listeners) listener(next);
      logger.info({ certFile, validTo: new X509Certificate(next.cert).validTo }, 'Certificate replaced');
    } catch (error) {
      logger.warn({ certFile, error }, 'The new certificate cannot be used: the one before it stays');
    }
  }

  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => (looking = false));
  }, everyMs).unref();
  return {
    get current() {
      return current;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    close: () => clearInterval(timer),
  };
}

async function readKeyPair({ certFile, keyFile, caFile }: CertificateFiles): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  if (!fits(cert, key)) throw new Error(`${certFile} and ${keyFile} do not hold a certificate and its private key`);
  if (caFile === undefined) return { cert, key };
  const ca = await readFile(caFile, 'utf8');
  if (!isCertificate(ca)) throw new Error(`${caFile} does not hold the certificate of an authority`);
  return { cert, key, ca };
}

function fits(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).ca;
  } catch {
    return false;
  }
}

import { createHash, webcrypto, X509Certificate } from 'node:crypto';

/** A certificate and its key, as PEM. */
export interface KeyPair {
  readonly certificate: string;
  /** PKCS #8. */
  readonly key: string;
}

/** Whom a certificate names, and for which end of a connection it is good. */
export interface Subject {
  /** A DNS name: the one name that the certificate has. */
  readonly name: string;
  readonly usage: 'server' | 'client';
}

const DAY_MS = 24 * 60 * 60_000;
/** Of an authority, in ms. */
export const AUTHORITY_LIFETIME_MS = 365 * DAY_MS;
/** Of what an authority issues, in ms. */
export const CERTIFICATE_LIFETIME_MS = 30 * DAY_MS;
/** Certificates are good from a little before they are made: clocks differ. */
const SKEW_MS = 5 * 60_000;

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** Makes an authority of its own, which may issue certificates and no further authorities. */
export async function createAuthority(nowMs: number): Promise<KeyPair> {
  const x509 = await loadLibrary();
  const keys = await makeKeys();
  const serialNumber = makeSerialNumber();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ serialNumber, keys, signingAlgorithm: SIGNING },
    // Two authorities are good at the same time: their names tell them apart.
    name: `CN=tokenkeep reactors ${serialNumber}`,
    notBefore: new Date(nowMs - SKEW_MS),
    notAfter: new Date(nowMs + AUTHORITY_LIFETIME_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyToPem(keys.privateKey) };
}

/** Issues a certificate with a key of its own. It never outlives the authority. */
export async function issueCertificate(authority: KeyPair, subject: Subject, nowMs: number): Promise<KeyPair> {
  const x509 = await loadLibrary();
  const keys = await makeKeys();
  const issuer = new x509.X509Certificate(authority.certificate);
  const ends = Math.min(nowMs + CERTIFICATE_LIFETIME_MS, issuer.notAfter.getTime());
  const usage = subject.usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: makeSerialNumber(),
    publicKey: keys.publicKey,
    signingKey: await keyFromPem(authority.key),
    signingAlgorithm: SIGNING,
    issuer: issuer.subject,
    // A name that is in the alternative names alone is critical there (RFC 5280, 4.2.1.6).
    subject: '',
    notBefore: new Date(nowMs - SKEW_MS),
    notAfter: new Date(ends),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage], false),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: subject.name }], true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyToPem(keys.privateKey) };
}

/** When a certificate is to be replaced, in ms since the epoch: after two thirds of its life. */
export function renewalOf(certificate: string): number {
  const { madeAt, endsAt } = lifeOf(certificate);
  return madeAt + ((endsAt - madeAt) * 2) / 3;
}

/** In ms since the epoch. Throws where the text is no certificate. */
export function lifeOf(certificate: string): { madeAt: number; endsAt: number } {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return { madeAt: Date.parse(validFrom) + SKEW_MS, endsAt: Date.parse(validTo) };
}

/** SHA-256 of a text that is no secret, in 16 hex digits. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Positive, of 128 random bits (RFC 5280, 4.1.2.2), in hex digits. */
function makeSerialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

async function keyToPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`;
}

function keyFromPem(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return webcrypto.subtle.importKey('pkcs8', der, KEY_ALGORITHM, false, ['sign']);
}

/** When it is first needed: the library wants a polyfill that changes a global, which importing us must not. */
async function loadLibrary() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

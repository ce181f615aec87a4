import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface BannerOptions {
  readonly baseUrl: string;
  readonly metricsUrl: string;
  readonly dataDir: string;
  readonly manifests: string | undefined;
}

const CARD = `{"id": "first-card", "type": "card", "data": {"number": "4242424242424242", "expiration_month": 12, "expiration_year": 2030}, "deduplicate_token": true}`;

/** As a shell takes it for one word. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

function shortest(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') || fromHere === '' ? path : fromHere;
}

/** What a person needs to begin: addresses, where keys lie, and requests to try where the samples are declared. */
export function banner({ baseUrl, metricsUrl, dataDir, manifests }: BannerOptions): string[] {
  const secrets = shortest(join(dataDir, 'secrets'));
  const keyFile = (application: string) => join(secrets, 'default', `${application}-api-key`, 'api-key');
  const key = (application: string) => `-H "SVC-API-KEY: $(cat ${quoted(keyFile(application))})"`;
  const lines = [
    '',
    `  Tokenkeep           ${baseUrl}`,
    `  API description     ${baseUrl}/docs`,
    `  Metrics             ${metricsUrl}`,
    `  Declarations        ${manifests === undefined ? 'none (--manifests DIR)' : shortest(manifests)}`,
    `  Application keys    ${secrets}/<namespace>/<secret name>/api-key`,
    '',
  ];
  if (!['collector', 'support', 'payments'].every((application) => existsSync(keyFile(application)))) return lines;
  return [
    ...lines,
    '  Tokenize a card, then read it as two applications with different access:',
    '',
    `  curl ${baseUrl}/tokens ${key('collector')} -H 'Content-Type: application/json' -d '${CARD}'`,
    `  curl ${baseUrl}/tokens/first-card ${key('support')}`,
    `  curl ${baseUrl}/tokens/first-card ${key('payments')}`,
    '',
  ];
}

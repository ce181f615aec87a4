import type { Authorities } from '../../workloads/authorities.ts';
import { lifeOf } from '../../workloads/certificates.ts';
import { AUTHORITY_SECRET, SHARED_LABELS } from '../../workloads/names.ts';
import { partOf } from '../../workloads/parts.ts';
import type { Part } from '../../workloads/parts.ts';
import type { ObservedPart } from './objects.ts';

/** As the API server keeps it; values in base64. */
export interface AuthoritySecret extends ObservedPart {
  data?: Record<string, string>;
}

/** What is stored is no authority. The message quotes nothing of it. */
export class AuthorityError extends Error {
  override readonly name = 'AuthorityError';
}

export function buildAuthoritySecret(authorities: Authorities): Part {
  const entries = Object.entries(authorityEntries(authorities)).filter(([, value]) => value !== null);
  const data = Object.fromEntries(entries);
  return { ...partOf('Secret', AUTHORITY_SECRET, SHARED_LABELS), type: 'Opaque', data };
}

/** The `data` of the Secret; what is null is taken out of one that has it. */
export function authorityEntries({ current, next, previous }: Authorities): Record<string, string | null> {
  return {
    'tls.crt': encode(current.certificate),
    'tls.key': encode(current.key),
    'next.crt': encode(next?.certificate),
    'next.key': encode(next?.key),
    'previous.crt': encode(previous),
  };
}

/** Throws an AuthorityError where the Secret holds none: it is not overwritten, since whatever trusts it would stop to. */
export function authoritiesIn({ data = {} }: AuthoritySecret): Authorities {
  const entry = (name: string) => (data[name] === undefined ? undefined : decode(data[name]));
  const current = { certificate: entry('tls.crt') ?? '', key: entry('tls.key') ?? '' };
  const next = { certificate: entry('next.crt') ?? '', key: entry('next.key') ?? '' };
  const previous = entry('previous.crt');
  try {
    lifeOf(current.certificate);
    if (current.key === '') throw new Error('no key');
  } catch {
    // Without a cause, which may quote the key.
    throw new AuthorityError(`Secret ${AUTHORITY_SECRET} holds no authority: delete it, and another one is made`);
  }
  return {
    current,
    ...(next.certificate === '' || next.key === '' ? {} : { next }),
    ...(previous === undefined ? {} : { previous }),
  };
}

function encode(text: string | undefined): string | null {
  return text === undefined ? null : Buffer.from(text, 'utf8').toString('base64');
}

function decode(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

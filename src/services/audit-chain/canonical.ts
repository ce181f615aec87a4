import { createHash } from 'node:crypto';
import type { ChainHead, ChainLink, SealedHead } from '../../domain/audit-chain.ts';
import type { LogEntry } from '../../domain/logs.ts';
import { lengthPrefixed } from '../../keys/length-prefixed.ts';

// Each form begins with its name and version: bytes of one are never those of another, and a later form can be told
// from these.
const ENTRY = 'tokenkeep audit entry 1';
const LINK = 'tokenkeep audit link 1';
const HEAD = 'tokenkeep audit head 1';

const HASH_BYTES = 32;

/** Stands before the first link of a chain. */
export const NO_LINK: Buffer = Buffer.alloc(HASH_BYTES);
/** Stands for an entry that was gone before it could be linked: no entry has this digest. */
export const NO_ENTRY: Buffer = Buffer.alloc(HASH_BYTES);

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** SHA-256 over every field of an entry. An absent actor is the empty text: no id is. */
export function digestOfEntry(entry: LogEntry): Buffer {
  const { tenantId, createdAt, id, actorId, actorType, entityType, entityId, operation, message } = entry;
  const who = [actorId ?? '', actorType] as const;
  const what = [entityType, entityId, operation, message] as const;
  return sha256(lengthPrefixed(ENTRY, tenantId, createdAt.toISOString(), id, ...who, ...what));
}

function headParts({ writer, hour, n, hash }: ChainHead): (string | Buffer)[] {
  return [writer, hour.toISOString(), `${n}`, hash];
}

/**
 * The hash of a link: over everything in it but the hash itself, so over everything before it too. Each part is hashed
 * by itself, and says its own length; how many there are stands in the first one.
 */
export function hashOfLink(link: Omit<ChainLink, 'hash'>): Buffer {
  const { writer, hour, n, previous, linkedAt, oldest, witnessed, entries } = link;
  const times = [hour, linkedAt, oldest].map((time) => time.toISOString());
  const hash = createHash('sha256');
  hash.update(lengthPrefixed(LINK, writer, ...times, `${n}`, previous, `${witnessed.length}`, `${entries.length}`));
  for (const head of witnessed) hash.update(lengthPrefixed(...headParts(head)));
  for (const { tenantId, createdAt, id, queuedAt, digest } of entries) {
    hash.update(lengthPrefixed(tenantId, createdAt.toISOString(), id, queuedAt.toISOString(), digest));
  }
  return hash.digest();
}

/** What the key management authenticates of a head. */
export function messageOfHead(head: Omit<SealedHead, 'mac'>): Buffer {
  return lengthPrefixed(HEAD, ...headParts(head), head.sealedBy, head.anchoredAt.toISOString());
}

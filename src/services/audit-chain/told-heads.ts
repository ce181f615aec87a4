import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type ChainHead, HEAD_MESSAGE } from '../../domain/audit-chain.ts';

const MARK = `"${HEAD_MESSAGE}"`;
const SHA256_HEX = /^[0-9a-f]{64}$/;

function readHead(line: string): ChainHead | undefined {
  if (!line.includes(MARK)) return undefined;
  try {
    const { message, writer, hour, n, hash } = JSON.parse(line) as Record<string, unknown>;
    const time = typeof hour === 'string' ? new Date(hour) : new Date(NaN);
    if (message !== HEAD_MESSAGE || typeof writer !== 'string' || Number.isNaN(time.getTime())) return undefined;
    if (!Number.isInteger(n) || typeof hash !== 'string' || !SHA256_HEX.test(hash)) return undefined;
    return { writer, hour: time, n: n as number, hash: Buffer.from(hash, 'hex') };
  } catch {
    return undefined;
  }
}

/**
 * The heads that a vault's log tells, by the hour of their chain in ms: of each chain the last one, which holds all
 * before it. Other lines are passed over. Takes memory for a head a chain, however long the file is.
 */
export async function readToldHeads(file: string): Promise<Map<number, readonly ChainHead[]>> {
  const last = new Map<string, ChainHead>();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const head = readHead(line);
    if (head === undefined) continue;
    const chain = `${head.writer} ${head.hour.getTime()}`;
    if ((last.get(chain)?.n ?? 0) < head.n) last.set(chain, head);
  }
  return Map.groupBy(last.values(), ({ hour }) => hour.getTime());
}

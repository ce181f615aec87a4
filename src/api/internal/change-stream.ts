import { PassThrough } from 'node:stream';
import type Koa from 'koa';
import type { DeclarationChange } from '../../domain/declarations.ts';
import type { ChangeFeed } from '../../services/change-feed.ts';

const PING_MS = 5_000;
/** Bytes of lines that a follower has not taken yet; one that is further behind reads everything anew instead. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

/**
 * Lines of JSON, from a full resync on, until the caller goes away or is not let in any more: with each ping he is
 * looked at as if he came anew.
 */
export function streamChanges(ctx: Koa.Context, changes: ChangeFeed, isLetIn: () => Promise<boolean>): void {
  const stream = new PassThrough();
  const write = (change: DeclarationChange) => {
    if (stream.writableEnded) return;
    if (stream.writableLength + stream.readableLength > MAX_BACKLOG_BYTES) ctx.res.destroy();
    else stream.write(`${JSON.stringify(change)}\n`);
  };
  const unsubscribe = changes.subscribe(write);
  const ping = setInterval(() => {
    write({ kind: 'ping' });
    void isLetIn().then((letIn) => {
      if (!letIn) stream.end();
    });
  }, PING_MS);
  stream.on('close', () => {
    unsubscribe();
    clearInterval(ping);
  });
  write({ kind: 'resync' });
  ctx.type = 'application/x-ndjson';
  ctx.body = stream;
}

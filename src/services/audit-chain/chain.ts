import { randomUUID } from 'node:crypto';
import type { ChainHead, ChainLink } from '../../domain/audit-chain.ts';
import { hashOfLink, NO_LINK } from './canonical.ts';

const HOUR_MS = 3_600_000;

/** What goes into a link. */
export type LinkContents = Pick<ChainLink, 'linkedAt' | 'oldest' | 'witnessed' | 'entries'>;

/** The chain that one process writes, as the process itself remembers it. */
export interface Chain {
  readonly writer: string;
  /** The newest link; undefined before the first one. */
  readonly head: ChainHead | undefined;
  /** The link that comes next. It is in the chain once `append` is told so. */
  next(contents: LinkContents): ChainLink;
  append(link: ChainLink): void;
  /** The newest heads of each hour's chain since it was last asked for them. */
  takeHeads(): ChainHead[];
}

/** The beginning of the hour that holds a time. */
export function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
}

/** The beginning of the next one. */
export function hourAfter(hour: Date): Date {
  return new Date(hour.getTime() + HOUR_MS);
}

export function createChain(writer: string = randomUUID()): Chain {
  let head: ChainHead | undefined;
  const untold = new Map<number, ChainHead>();
  return {
    writer,
    get head() {
      return head;
    },
    next({ linkedAt, oldest, witnessed, entries }) {
      const now = hourOf(linkedAt);
      // A clock that is set back leads to no chain that has ended.
      const hour = head !== undefined && head.hour > now ? head.hour : now;
      const before = head?.hour.getTime() === hour.getTime() ? head : undefined;
      const own = before === undefined && head !== undefined ? [head] : [];
      const contents = {
        ...{ writer, hour, n: (before?.n ?? 0) + 1, previous: before?.hash ?? NO_LINK },
        ...{ linkedAt, oldest, witnessed: [...own, ...witnessed], entries },
      };
      return { ...contents, hash: hashOfLink(contents) };
    },
    append({ hour, n, hash }) {
      head = { writer, hour, n, hash };
      untold.set(hour.getTime(), head);
    },
    takeHeads() {
      const heads = [...untold.values()];
      untold.clear();
      return heads;
    },
  };
}

import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';

export interface TreeWatcher {
  /** Looks soon, as after a change. */
  poke(): void;
  /** Resolves once the look under way, if any, is done. */
  stop(): Promise<void>;
}

// An editor writes in several steps within a few milliseconds.
const SETTLE_MS = 60;
// The net below fs.watch, which misses changes on network folders and some bind mounts.
const POLL_MS = 1_000;

/** Calls `look` soon after anything below `root` changes, and at least once a second. Looks never overlap. */
export function watchTree(root: string, look: () => Promise<void>): TreeWatcher {
  let stopped = false;
  let soon: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let watcher: FSWatcher | undefined;

  const poke = () => {
    if (stopped || soon !== undefined) return;
    soon = setTimeout(() => {
      soon = undefined;
      looking = looking.then(() => (stopped ? undefined : look()));
    }, SETTLE_MS);
  };
  const poll = setInterval(() => {
    if (watcher === undefined) open();
    poke();
  }, POLL_MS);

  function open(): void {
    try {
      watcher = watch(root, { recursive: true, persistent: false }, poke);
      watcher.on('error', () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      watcher = undefined;
    }
  }

  open();
  return {
    poke,
    async stop() {
      stopped = true;
      clearTimeout(soon);
      clearInterval(poll);
      watcher?.close();
      await looking;
    },
  };
}

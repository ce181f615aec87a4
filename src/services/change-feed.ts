import type { DeclarationChange } from '../domain/declarations.ts';

type Listener = (change: DeclarationChange) => void;

/** Hands each change of control data to everyone who follows them in this process. */
export interface ChangeFeed {
  publish(change: DeclarationChange): void;
  /** Returns what ends the subscription. */
  subscribe(listener: Listener): () => void;
}

export function createChangeFeed(): ChangeFeed {
  const listeners = new Set<Listener>();
  return {
    publish(change) {
      for (const listener of listeners) listener(change);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Whether a service that may be away is to be asked. */
export interface Circuit {
  /** False until a probe has been answered, and from a failure until one has been again. */
  readonly isUp: boolean;
  /** The service failed, or took too long. */
  trip(): void;
  /** Finds out whether it answers, unless that is known, under way, or a failure is too recent. Never rejects. */
  probe(): Promise<void>;
}

export interface CircuitOptions {
  /** Resolves where the service answers, and rejects where it does not in time. */
  readonly ask: () => Promise<unknown>;
  /** Told of each change, and of the first state. */
  readonly onChange: (isUp: boolean) => void;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly holdOffMs?: number;
}

/**
 * For so long after a failure it is not asked at all, in ms: a service that answers probes and fails at work would
 * otherwise keep requests waiting again and again.
 */
export const HOLD_OFF_MS = 2_000;

export function createCircuit({ ask, onChange, now, holdOffMs = HOLD_OFF_MS }: CircuitOptions): Circuit {
  let isUp: boolean | undefined;
  let probing = false;
  let failures = 0;
  let heldOffUntil = -Infinity;

  function become(state: boolean): void {
    if (isUp === state) return;
    isUp = state;
    onChange(state);
  }

  return {
    get isUp() {
      return isUp === true;
    },
    trip() {
      failures++;
      heldOffUntil = now() + holdOffMs;
      become(false);
    },
    async probe() {
      if (probing || isUp === true || now() < heldOffUntil) return;
      probing = true;
      const before = failures;
      try {
        await ask();
        if (failures === before) become(true);
      } catch {
        // Asked again by the next probe.
      } finally {
        probing = false;
      }
    },
  };
}

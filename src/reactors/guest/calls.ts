import type { HostCall } from './types.ts';

export interface GuestCalls {
  /** The answer is rejected with an error that `refused` makes, where the host does not take the call on. */
  call(operation: string, payload: string, refused: (reason: string) => Error): GuestCallUnderWay;
  /** Settles the call with the text that came for it. */
  answer: (id: string, payload: string) => void;
}

interface GuestCallUnderWay {
  answer: Promise<string>;
  /** Has the host let go of it; the answer never settles then. */
  cancel: () => void;
}

/** Calls to the supervisor that are answered later: those of `svc` and of `fetch`. */
export function createCalls(host: HostCall): GuestCalls {
  const pending = new Map<string, (payload: string) => void>();
  let last = 0;
  return {
    call(operation, payload, refused) {
      const id = String((last += 1));
      const answer = new Promise<string>((resolve, reject) => {
        const refusal = host('call', id, operation, payload);
        if (refusal === '') pending.set(id, resolve);
        else reject(refused(refusal));
      });
      return {
        answer,
        cancel() {
          if (pending.delete(id)) host('cancel', id);
        },
      };
    },
    answer(id, payload) {
      const resolve = pending.get(id);
      pending.delete(id);
      resolve?.(payload);
    },
  };
}

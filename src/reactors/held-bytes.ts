/** Arguments of all invocations that wait, of all reactors together, as JSON text. In memory they are several times that. */
const DEFAULT_MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Counts what the arguments of waiting invocations take, so that no number of reactors brings the API down. */
export class HeldBytes {
  readonly #most: number;
  #bytes = 0;

  constructor(most = DEFAULT_MAX_HELD_BYTES) {
    this.#most = most;
  }

  get isOver(): boolean {
    return this.#bytes > this.#most;
  }

  add(bytes = 0): void {
    this.#bytes += bytes;
  }

  remove(bytes = 0): void {
    this.#bytes -= bytes;
  }
}

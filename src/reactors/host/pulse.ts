/** Tells a process that does not listen from one that only waits. */
export class Pulse {
  readonly #options: { everyMs: number; toleratedBeats: number; ping: () => void; onDeaf: () => void };
  #timer: NodeJS.Timeout | undefined;
  #isAsked = false;
  #missed = 0;

  /**
   * `onDeaf`: so many beats have gone by since a ping without an answer. They are counted, not measured: where the whole
   * machine has stood still, the other side has had no time for an answer either.
   */
  constructor(options: { everyMs: number; toleratedBeats: number; ping: () => void; onDeaf: () => void }) {
    this.#options = options;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#isAsked = false;
    this.#timer = setInterval(() => this.#beat(), this.#options.everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  heard(): void {
    this.#isAsked = false;
  }

  #beat(): void {
    if (!this.#isAsked) {
      this.#isAsked = true;
      this.#missed = 0;
      this.#options.ping();
      return;
    }
    this.#missed += 1;
    if (this.#missed < this.#options.toleratedBeats) return;
    this.stop();
    this.#options.onDeaf();
  }
}

import type { JsonObject } from '../../../src/domain/json.ts';

/** Something that runs the function on arguments, ready and warm. */
export interface Contestant extends AsyncDisposable {
  readonly name: string;
  /** Resolves with what the function gave. */
  readonly run: (args: JsonObject) => Promise<unknown>;
}

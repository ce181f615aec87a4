import type { InvocationKey, InvocationRow } from '../../../data/invocations.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { SealedPlace, Sealer } from '../../../keys/sealing.ts';
import type { InvocationAnswer } from './types.ts';

type Column = 'args' | 'callback_url' | 'result';

/** Where what an invocation is about is sealed and opened. What opens is undefined where it is damaged or gone. */
export interface InvocationVault {
  sealRequest(
    key: InvocationKey,
    request: { args: JsonObject; callbackUrl: string },
  ): Promise<{ args: Buffer; callbackUrl: Buffer }>;
  sealResult(key: InvocationKey, answer: InvocationAnswer): Promise<Buffer>;
  /** Under a key that is destroyed soon after `retentionSeconds`, as card verification codes are sealed. */
  sealPassingResult(key: InvocationKey, answer: InvocationAnswer, retentionSeconds: number): Promise<Buffer>;
  openArgs(row: InvocationRow): Promise<JsonObject | undefined>;
  openCallbackUrl(row: InvocationRow): Promise<string | undefined>;
  openResult(row: InvocationRow): Promise<InvocationAnswer | undefined>;
}

// Each is written once. Who may read a result, and whose code gets the arguments, hangs on the columns in the version.
function placeOf({ tenantId, id, reactorId, applicationId }: InvocationKey, column: Column): SealedPlace {
  const version = `${reactorId}/${applicationId}`;
  return { tenantId, table: 'reactor_invocations', rowId: id, column, version };
}

export function createInvocationVault(sealer: Sealer): InvocationVault {
  async function open(row: InvocationRow, column: Column, sealed: Buffer | null): Promise<string | undefined> {
    if (sealed === null) return undefined;
    const [opened] = await sealer.openMany([{ place: placeOf(row, column), format: row.sealedFormat, sealed }]);
    return opened?.toString('utf8');
  }

  return {
    async sealRequest(key, { args, callbackUrl }) {
      const [sealedArgs, sealedUrl] = await sealer.sealMany([
        { place: placeOf(key, 'args'), plaintext: JSON.stringify(args) },
        { place: placeOf(key, 'callback_url'), plaintext: callbackUrl },
      ]);
      return { args: sealedArgs!, callbackUrl: sealedUrl! };
    },
    sealResult: (key, answer) => sealer.seal(placeOf(key, 'result'), JSON.stringify(answer)),
    sealPassingResult: (key, answer, retentionSeconds) =>
      sealer.sealCvc(placeOf(key, 'result'), JSON.stringify(answer), retentionSeconds),
    async openArgs(row) {
      const text = await open(row, 'args', row.args);
      return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
    },
    openCallbackUrl: (row) => open(row, 'callback_url', row.callbackUrl),
    async openResult(row) {
      const text = await open(row, 'result', row.result);
      return text === undefined ? undefined : (JSON.parse(text) as InvocationAnswer);
    },
  };
}

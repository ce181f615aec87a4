import type { TokenRow } from '../../data/tokens.ts';
import type { Caller } from '../../domain/caller.ts';
import type { LogOperation } from '../../domain/logs.ts';
import type { Token } from '../../domain/tokens.ts';
import type { Audit } from '../audit.ts';
import { damaged, refusedAsDamaged } from '../damage.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import type { TokenVault } from './vault.ts';

/**
 * The tokens of rows that a request needs, all or none. Where any is damaged, it is logged who asked for it and to what
 * end, before 'unprocessable' is thrown, which names it.
 */
export async function openTokens(
  { vault, audit }: { readonly vault: TokenVault; readonly audit: Audit },
  caller: Caller,
  operation: LogOperation,
  rows: readonly TokenRow[],
): Promise<Token[]> {
  const opened = await vault.open(rows);
  const broken = rows.filter((_, index) => opened[index] === undefined);
  if (broken.length === 0) return opened as Token[];
  await audit.record(broken.map((row) => refusedAsDamaged(tokenLogEntry(actorOf(caller), operation, row))));
  throw damaged(`the token ${broken.map(({ id }) => id).join(', ')}`);
}

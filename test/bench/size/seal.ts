import type { TokenRow } from '../../../src/data/tokens.ts';
import { TOKEN_TYPES } from '../../../src/domain/token-types.ts';
import { randomCard } from '../cards.ts';
import type { Parts } from './parts.ts';

const STORE = 'update tokens set data = $3, mask = $4, sealed_format = 2 where tenant_id = $1 and token_id = $2';

function* noIds(): Generator<string, undefined, undefined> {
  return undefined;
}

async function seal({ vault, database }: Parts, row: TokenRow): Promise<void> {
  const { data, mask } = await vault.sealColumns(row, {
    ...row,
    ...{ data: { ...randomCard() }, mask: { ...TOKEN_TYPES.card.mask }, cvc: null, deduplicate: false },
    ...{ otherIds: noIds(), searchValues: [], fingerprintValue: null },
  });
  await database.run({ text: STORE }, [row.tenantId, row.id, data, mask]);
}

/** Parts that seal with the tenant's keys each token they are to open, so that it can be opened from then on. */
export function sealingParts(parts: Parts): Parts {
  return {
    ...parts,
    vault: {
      ...parts.vault,
      async open(rows) {
        for (const row of rows) await seal(parts, row);
        return [];
      },
    },
  };
}

import type { Queryable } from '../../../src/data/database.ts';
import { insertHead } from '../../../src/data/log-heads.ts';
import { insertLink } from '../../../src/data/log-links.ts';
import type { ChainHead } from '../../../src/domain/audit-chain.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { digestOfEntry, hashOfLink, NO_LINK } from '../../../src/services/audit-chain/canonical.ts';
import type { FaultKind } from '../../../src/services/audit-chain/faults.ts';
import { type AuditHistory, sealHead } from '../audit-history.ts';
import { type Attack, atLink, lastLink, middle, removeEntries, run } from './attack.ts';

/** Alters the entry in the middle and computes every hash of every chain anew, as the program would. */
async function recompute(on: Queryable, history: AuditHistory): Promise<void> {
  const { entry } = middle(history);
  const forged = { ...entry, message: 'token read' };
  await run(on, 'update logs set message = $1 where log_id = $2', [forged.message, entry.id]);
  await run(on, 'delete from log_links');
  const known = new Map<string, Buffer>();
  const placeOf = ({ writer, hour, n }: Omit<ChainHead, 'hash'>) => `${writer} ${+hour} ${n}`;
  for (const link of history.links) {
    const contents = {
      ...link,
      previous: known.get(placeOf({ ...link, n: link.n - 1 })) ?? NO_LINK,
      witnessed: link.witnessed.map((head) => ({ ...head, hash: known.get(placeOf(head))! })),
      entries: link.entries.map((linked) =>
        linked.id === entry.id ? { ...linked, digest: digestOfEntry(forged) } : linked,
      ),
    };
    const hash = hashOfLink(contents);
    known.set(placeOf(link), hash);
    await insertLink(on, { ...contents, hash });
  }
}

export function attacksOnHeads(keyManagement: () => KeyManagement): readonly Attack[] {
  const HEAD_COLUMNS: readonly [column: string, value: string, kind: FaultKind, n: number][] = [
    ['hash', `sha256('x')`, 'head altered', 3],
    ['n', '2', 'head altered', 2],
    ['sealed_by', 'gen_random_uuid()', 'head altered', 3],
    ['anchored_at', `anchored_at + interval '1 second'`, 'head altered', 3],
    ['mac', `reverse(mac)`, 'head altered', 3],
  ];
  return [
    ...HEAD_COLUMNS.map(([column, value, kind, n]): Attack => ({
      name: `update of a sealed head's ${column}`,
      async carryOut(on, history) {
        const { hour, writer } = lastLink(history);
        await run(on, `update log_heads set ${column} = ${value} where hour = $1 and writer = $2`, [hour, writer]);
        return atLink(kind, { writer, hour }, n);
      },
    })),
    {
      name: 'a head rolled back to an earlier link, with what came after it removed',
      async carryOut(on, history) {
        const link = lastLink(history);
        const earlier = history.links.find(({ writer, n }) => writer === link.writer && n === link.n - 1)!;
        await removeEntries(on, [link]);
        await run(on, 'delete from log_links where hash = $1', [link.hash]);
        await run(on, 'delete from log_heads where hour = $1 and writer = $2', [link.hour, link.writer]);
        // A true seal, of a minute before.
        await insertHead(on, await sealHead(keyManagement(), earlier, link.writer));
        return atLink('link missing', link, link.n);
      },
    },
    {
      name: 'an entry altered, and every hash of every chain computed anew',
      async carryOut(on, history) {
        await recompute(on, history);
        return atLink('link altered', middle(history).link, 1);
      },
    },
    {
      name: 'an entry altered, every hash computed anew, and heads of no link put before the sealed ones',
      told: true,
      async carryOut(on, history) {
        await recompute(on, history);
        await run(
          on,
          `insert into log_heads (hour, writer, n, hash, sealed_by, anchored_at, mac)
          select distinct hour, writer, 0, sha256('x'), writer, now(), 'x' from log_links`,
        );
        return atLink('head altered', middle(history).link, 0);
      },
    },
    {
      name: 'an entry altered, every hash computed anew, and all sealed heads removed',
      told: true,
      async carryOut(on, history) {
        await recompute(on, history);
        await run(on, 'delete from log_heads');
        return atLink('link altered', middle(history).link, 1);
      },
    },
  ];
}

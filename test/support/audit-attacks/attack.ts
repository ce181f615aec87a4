import type { Queryable } from '../../../src/data/database.ts';
import type { ChainHead, ChainLink } from '../../../src/domain/audit-chain.ts';
import type { FaultKind } from '../../../src/services/audit-chain/faults.ts';
import type { AuditHistory } from '../audit-history.ts';

/** What verification is to name. */
export interface Expected {
  kind: FaultKind;
  entry?: string;
  chain?: Pick<ChainHead, 'writer' | 'hour'>;
  n?: number;
}

export interface Attack {
  name: string;
  /** As the superuser; gives what is to be named. */
  carryOut(on: Queryable, history: AuditHistory): Promise<Expected>;
  /** Whether the heads are known from the process's log too. */
  told?: true;
}

export const run = (on: Queryable, text: string, values: readonly unknown[] = []) => on.run({ text }, values);

/** The link in the middle of the first writer's chain of the first hour, and the entry in the middle of it. */
export function middle({ links, entries, writers }: AuditHistory) {
  const link = links.find(({ writer, n }) => writer === writers[0] && n === 2)!;
  const { id } = link.entries[1]!;
  return { link, entry: entries.find((candidate) => candidate.id === id)! };
}

export const atEntry = (kind: FaultKind, { link, entry }: ReturnType<typeof middle>): Expected => ({
  ...{ kind, entry: entry.id, chain: { writer: link.writer, hour: link.hour }, n: link.n },
});
export const atLink = (kind: FaultKind, { writer, hour }: Pick<ChainHead, 'writer' | 'hour'>, n: number): Expected => ({
  ...{ kind, chain: { writer, hour }, n },
});

/** Of a chain, by default the first one. */
export function lastLink({ links, writers, hours }: AuditHistory, writer = writers[0]!, hour = hours[0]!): ChainLink {
  return links.filter((link) => link.writer === writer && +link.hour === +hour).at(-1)!;
}

export async function removeEntries(on: Queryable, links: readonly ChainLink[]): Promise<void> {
  const ids = links.flatMap(({ entries }) => entries.map(({ id }) => id));
  await run(on, 'delete from logs where log_id = any ($1::uuid[])', [ids]);
}

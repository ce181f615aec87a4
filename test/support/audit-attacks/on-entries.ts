import { randomUUID } from 'node:crypto';
import { insertLogs } from '../../../src/data/logs.ts';
import type { FaultKind } from '../../../src/services/audit-chain/faults.ts';
import { newLog } from '../rows.ts';
import { type Attack, atEntry, middle, run } from './attack.ts';

const COLUMNS: readonly [column: string, value: string, kind: FaultKind][] = [
  ['tenant_id', 'gen_random_uuid()', 'altered'],
  ['created_at', `created_at + interval '1 second'`, 'reordered'],
  ['log_id', 'gen_random_uuid()', 'missing'],
  ['actor_id', 'gen_random_uuid()', 'altered'],
  ['actor_type', `'operator'`, 'altered'],
  ['entity_type', `'card'`, 'altered'],
  ['entity_id', `'another'`, 'altered'],
  ['operation', `'read'`, 'altered'],
  ['message', `message || ' '`, 'altered'],
];

export const ATTACKS_ON_ENTRIES: readonly Attack[] = [
  ...COLUMNS.map(([column, value, kind]): Attack => ({
    name: `update of an entry's ${column}`,
    async carryOut(on, history) {
      const place = middle(history);
      await run(on, `update logs set ${column} = ${value} where log_id = $1`, [place.entry.id]);
      return atEntry(kind, place);
    },
  })),
  {
    name: 'deletion of an entry',
    async carryOut(on, history) {
      const place = middle(history);
      await run(on, 'delete from logs where log_id = $1', [place.entry.id]);
      return atEntry('missing', place);
    },
  },
  {
    name: 'deletion of the last entry of all',
    async carryOut(on, history) {
      const link = history.links.at(-1)!;
      const entry = history.entries.at(-1)!;
      await run(on, 'delete from logs where log_id = $1', [entry.id]);
      return atEntry('missing', { link, entry });
    },
  },
  {
    name: 'drop of a whole partition before its time',
    async carryOut(on, { links, entries, hours, writers }) {
      const name = `logs_${hours.at(-1)!.toISOString().replaceAll(/\D/g, '').slice(0, 10)}`;
      await run(on, `drop table ${name}`);
      const link = links.find(({ hour, writer }) => +hour === +hours.at(-1)! && writer === writers[0])!;
      return atEntry('missing', { link, entry: entries.find(({ id }) => id === link.entries[0]!.id)! });
    },
  },
  {
    name: 'deletion of every entry of an hour',
    async carryOut(on, { links, entries, hours }) {
      await run(on, 'delete from logs where created_at >= $1 and created_at < $2', [hours[1], hours[2]]);
      const link = links.find(({ hour }) => +hour === +hours[1]!)!;
      return atEntry('missing', { link, entry: entries.find(({ id }) => id === link.entries[0]!.id)! });
    },
  },
  {
    name: 'insertion of an entry with the triggers off',
    async carryOut(on, history) {
      const entry = newLog(randomUUID(), 'extra', { createdAt: new Date(+history.hours[1]! + 30_000) });
      await run(on, 'alter table logs disable trigger user');
      await insertLogs(on, [entry]);
      return { kind: 'unlinked', entry: entry.id };
    },
  },
  {
    name: 'insertion of an entry into the partition itself',
    async carryOut(on, { hours }) {
      const id = randomUUID();
      await run(
        on,
        `insert into logs_default
           (tenant_id, created_at, log_id, actor_type, entity_type, entity_id, operation, message)
         values ($1, $2, $3, 'system', 'token', 'x', 'read', 'token read')`,
        [randomUUID(), hours[0], id],
      );
      return { kind: 'unlinked', entry: id };
    },
  },
  {
    name: 'insertion of an entry, with the queue emptied after it',
    async carryOut(on, { hours }) {
      const entry = newLog(randomUUID(), 'extra', { createdAt: hours.at(-1)! });
      await insertLogs(on, [entry]);
      await run(on, 'delete from log_unlinked');
      return { kind: 'unlinked', entry: entry.id };
    },
  },
  {
    name: 'swap of the times of two entries',
    async carryOut(on, history) {
      const place = middle(history);
      const other = history.entries.find(({ id }) => id === place.link.entries[2]!.id)!;
      const swap = 'update logs set created_at = $2 where log_id = $1';
      await run(on, swap, [place.entry.id, other.createdAt]);
      await run(on, swap, [other.id, place.entry.createdAt]);
      return atEntry('reordered', place);
    },
  },
  {
    name: 'swap of the contents of two entries',
    async carryOut(on, history) {
      const place = middle(history);
      const other = history.entries.find(({ id }) => id === place.link.entries[2]!.id)!;
      const swap = 'update logs set entity_id = $2 where log_id = $1';
      await run(on, swap, [place.entry.id, other.entityId]);
      await run(on, swap, [other.id, place.entry.entityId]);
      return atEntry('altered', place);
    },
  },
];

import { randomUUID } from 'node:crypto';
import { insertLink } from '../../../src/data/log-links.ts';
import { insertLogs } from '../../../src/data/logs.ts';
import { digestOfEntry, hashOfLink, NO_LINK } from '../../../src/services/audit-chain/canonical.ts';
import { newLog } from '../rows.ts';
import { type Attack, atLink, lastLink, middle, removeEntries, run } from './attack.ts';

const LINK_COLUMNS: readonly [column: string, value: string][] = [
  ['previous', `sha256('x')`],
  ['hash', `sha256('x')`],
  ['linked_at', `linked_at + interval '1 second'`],
  ['oldest', `oldest + interval '1 second'`],
  ['witnessed', `'[{"writer": "x", "hour": "2020-01-01T00:00:00.000Z", "n": 1, "hash": "00"}]'`],
  ['tenant_ids', 'array_replace(tenant_ids, tenant_ids[1], gen_random_uuid())'],
  ['created_ats', `array_replace(created_ats, created_ats[1], created_ats[1] - interval '1 second')`],
  ['log_ids', 'array_replace(log_ids, log_ids[1], gen_random_uuid())'],
  ['digests', `array_replace(digests, digests[1], sha256('x'))`],
  ['queued_ats', `array_replace(queued_ats, queued_ats[1], queued_ats[1] + interval '1 second')`],
];

export const ATTACKS_ON_LINKS: readonly Attack[] = [
  ...LINK_COLUMNS.map(([column, value]): Attack => ({
    name: `update of a link's ${column}`,
    async carryOut(on, history) {
      const { hour, writer, n } = middle(history).link;
      const where = 'where hour = $1 and writer = $2 and n = $3';
      await run(on, `update log_links set ${column} = ${value} ${where}`, [hour, writer, n]);
      return atLink('link altered', { writer, hour }, n);
    },
  })),
  {
    name: 'swap of two links',
    async carryOut(on, history) {
      const { hour, writer } = middle(history).link;
      for (const [from, to] of [
        [2, 99],
        [3, 2],
        [99, 3],
      ]) {
        const text = 'update log_links set n = $4 where hour = $1 and writer = $2 and n = $3';
        await run(on, text, [hour, writer, from, to]);
      }
      return atLink('link altered', { writer, hour }, 2);
    },
  },
  {
    name: 'deletion of a link with its entries',
    async carryOut(on, history) {
      const { link } = middle(history);
      await removeEntries(on, [link]);
      await run(on, 'delete from log_links where hash = $1', [link.hash]);
      return atLink('link missing', link, link.n);
    },
  },
  {
    name: 'deletion of a link, with those behind it numbered anew',
    async carryOut(on, history) {
      const { link } = middle(history);
      await removeEntries(on, [link]);
      await run(on, 'delete from log_links where hash = $1', [link.hash]);
      const rest = 'update log_links set n = n - 1 where hour = $1 and writer = $2 and n > $3';
      await run(on, rest, [link.hour, link.writer, link.n]);
      return atLink('link altered', link, link.n);
    },
  },
  {
    name: 'an entry altered together with the one link that holds it',
    async carryOut(on, history) {
      const { link, entry } = middle(history);
      await run(on, 'update logs set message = $1 where log_id = $2', ['forged', entry.id]);
      const digest = digestOfEntry({ ...entry, message: 'forged' });
      const entries = link.entries.map((linked) => (linked.id === entry.id ? { ...linked, digest } : linked));
      await run(on, 'delete from log_links where hash = $1', [link.hash]);
      await insertLink(on, { ...link, entries, hash: hashOfLink({ ...link, entries }) });
      return atLink('link altered', link, link.n);
    },
  },
  {
    name: 'cut of the end of a chain, with its entries',
    async carryOut(on, history) {
      const link = lastLink(history);
      await removeEntries(on, [link]);
      await run(on, 'delete from log_links where hash = $1', [link.hash]);
      return atLink('link missing', link, link.n);
    },
  },
  {
    name: 'cut of the end of a chain, with its entries and its sealed heads',
    async carryOut(on, history) {
      const link = lastLink(history);
      await removeEntries(on, [link]);
      await run(on, 'delete from log_links where hash = $1', [link.hash]);
      await run(on, 'delete from log_heads where hour = $1', [link.hour]);
      return atLink('link missing', link, link.n);
    },
  },
  {
    name: 'removal of a whole chain, with its entries and its sealed heads',
    async carryOut(on, history) {
      const { hour, writer, n } = lastLink(history);
      const chain = history.links.filter((link) => link.writer === writer && +link.hour === +hour);
      await removeEntries(on, chain);
      await run(on, 'delete from log_links where hour = $1 and writer = $2', [hour, writer]);
      await run(on, 'delete from log_heads where hour = $1 and writer = $2', [hour, writer]);
      return atLink('link missing', { writer, hour }, n);
    },
  },
  {
    name: 'removal of all that a writer ever wrote, its chains, entries and sealed heads',
    async carryOut(on, history) {
      const writer = history.writers[0]!;
      await removeEntries(
        on,
        history.links.filter((link) => link.writer === writer),
      );
      await run(on, 'delete from log_links where writer = $1', [writer]);
      await run(on, 'delete from log_heads where writer = $1', [writer]);
      const { hour, n } = lastLink(history);
      return atLink('link missing', { writer, hour }, n);
    },
  },
  {
    name: 'removal of the newest chain, with its entries and its sealed heads',
    told: true,
    async carryOut(on, history) {
      const { hour, writer } = history.links.at(-1)!;
      const chain = history.links.filter((link) => link.writer === writer && +link.hour === +hour);
      await removeEntries(on, chain);
      await run(on, 'delete from log_links where hour = $1 and writer = $2', [hour, writer]);
      await run(on, 'delete from log_heads where hour = $1 and writer = $2', [hour, writer]);
      return atLink('link missing', { writer, hour }, 1);
    },
  },
  {
    name: 'a well-made link put behind the end of a chain',
    async carryOut(on, history) {
      const last = lastLink(history);
      const entry = newLog(randomUUID(), 'extra', { createdAt: last.linkedAt });
      await insertLogs(on, [entry]);
      await run(on, 'delete from log_unlinked');
      const contents = {
        ...last,
        ...{ n: last.n + 1, previous: last.hash, witnessed: [] },
        entries: [{ ...entry, queuedAt: entry.createdAt, digest: digestOfEntry(entry) }],
      };
      await insertLink(on, { ...contents, hash: hashOfLink(contents) });
      return atLink('link added', last, last.n + 1);
    },
  },
  {
    name: 'a well-made link of an hour to come, which says that the log begins today',
    async carryOut(on, history) {
      const { writer } = lastLink(history);
      const hour = new Date(history.hours.at(-1)!.getTime() + 86_400_000);
      const entry = newLog(randomUUID(), 'extra', { createdAt: hour });
      const contents = {
        ...{ writer, hour, n: 1, previous: NO_LINK, linkedAt: hour, oldest: new Date(), witnessed: [] },
        entries: [{ ...entry, queuedAt: hour, digest: digestOfEntry(entry) }],
      };
      await insertLink(on, { ...contents, hash: hashOfLink(contents) });
      return atLink('link added', { writer, hour }, 1);
    },
  },
  {
    name: "update of a link's span, to hide that it holds an entry",
    async carryOut(on, history) {
      const { link } = middle(history);
      const text = `
        update log_links set first_created_at = '2000-01-01', last_created_at = '2000-01-01' where hash = $1`;
      await run(on, text, [link.hash]);
      return { kind: 'unlinked', entry: link.entries[0]!.id };
    },
  },
];

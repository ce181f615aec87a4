import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { findServerUser } from '../../src/data/embedded/server-user.ts';
import type { Database } from '../../src/data/database.ts';
import { insertLogs } from '../../src/data/logs.ts';
import { newLog } from './rows.ts';
import type { TestVault } from './vault.ts';

/** What keeps the audit log from being written, and how it passes. */
export interface AuditCause {
  readonly name: string;
  /** Resolves with what mends it; undefined where this machine cannot bring it about. */
  begin(vault: TestVault): Promise<(() => Promise<void>) | undefined>;
}

const run = promisify(execFile);
const sql = (database: Database, text: string) => database.run({ text });

const revoked: AuditCause = {
  name: 'INSERT on the log revoked',
  async begin({ database }) {
    await sql(database, 'revoke insert on logs from tokenkeep_api');
    return async () => void (await sql(database, 'grant insert on logs to tokenkeep_api'));
  },
};

const locked: AuditCause = {
  name: 'a lock on the log that another session does not give up',
  async begin({ connectionString }) {
    const holder = new pg.Client({ connectionString });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table logs in share mode');
    return () => holder.end();
  },
};

/** Partitions of the log for entries of now and of the hours after. */
async function presentPartitions(database: Database): Promise<string[]> {
  const rows = await database.run<{ name: string }>({
    text: `
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'logs'::regclass and c.relname ~ '^logs_[0-9]{10}$'`,
  });
  return rows.map(({ name }) => name);
}

const unpartitioned: AuditCause = {
  name: 'no partition of the log for this hour, and no default one',
  async begin({ database }) {
    for (const name of [...(await presentPartitions(database)), 'logs_default']) {
      await sql(database, `alter table logs detach partition ${name}`);
      await sql(database, `alter table ${name} rename to detached_${name}`);
    }
    return async () => {
      await sql(database, 'alter table detached_logs_default rename to logs_default');
      await sql(database, 'alter table logs attach partition logs_default default');
    };
  },
};

const unqueued: AuditCause = {
  name: 'the queue of what is to be chained missing',
  async begin({ database }) {
    await sql(database, 'alter table log_unlinked rename to log_unlinked_elsewhere');
    return async () => void (await sql(database, 'alter table log_unlinked_elsewhere rename to log_unlinked'));
  },
};

/** Fills what is left of the log's pages and of the disk below them. */
async function fill(database: Database): Promise<void> {
  for (let batch = 500; batch >= 1;) {
    const entries = Array.from({ length: batch }, () =>
      newLog('00000000-0000-4000-8000-00000000000f', '', { message: '', operation: 'read', actorType: 'system' }),
    );
    try {
      await insertLogs(database, entries);
    } catch {
      batch = Math.floor(batch / 2);
    }
  }
}

const diskFull: AuditCause = {
  name: 'the disk of the log full',
  async begin({ database }) {
    const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-full-'));
    const user = await findServerUser();
    try {
      if (process.getuid?.() !== 0) throw new Error('only root may mount');
      await run('mount', ['-t', 'tmpfs', '-o', 'size=512k,mode=0700', 'tmpfs', folder]);
    } catch {
      await rm(folder, { recursive: true });
      return undefined;
    }
    await chown(folder, user!.uid, user!.gid);
    await chmod(folder, 0o700);
    const space = `small_${randomBytes(6).toString('hex')}`;
    await sql(database, `create tablespace ${space} location '${folder}'`);
    const partitions = [...(await presentPartitions(database)), 'logs_default'];
    for (const name of partitions) await sql(database, `alter table ${name} set tablespace ${space}`);
    await fill(database);
    return async () => {
      await run('mount', ['-o', 'remount,size=64m', folder]);
      for (const name of partitions) await sql(database, `alter table ${name} set tablespace pg_default`);
      await sql(database, `drop tablespace ${space}`);
      await run('umount', [folder]);
      await rm(folder, { recursive: true });
    };
  },
};

export const AUDIT_CAUSES: readonly AuditCause[] = [revoked, locked, unpartitioned, unqueued, diskFull];

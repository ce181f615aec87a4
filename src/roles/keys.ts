import { formatAge } from '../cli/age.ts';
import { renderTable } from '../cli/table.ts';
import type { KeysImportConfig, KeysRewrapConfig, KeysRotateConfig, KeysStatusConfig } from '../config/keys.ts';
import { tryAdvisoryLock } from '../data/advisory-lock.ts';
import { systemClock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { importDataKeys } from '../services/key-rotation/import.ts';
import { KEYS_TURN, type OnProgress } from '../services/key-rotation/parts.ts';
import { rewrap, rewrapAndRetire } from '../services/key-rotation/rewrap.ts';
import { rotate } from '../services/key-rotation/rotate.ts';
import { readKeyStatus, type MasterKeyStatus } from '../services/key-rotation/status.ts';
import { openKeyringOf, openTransitOf } from './key-management.ts';
import { openCommandDatabase, openParts, type CommandDatabase, type Parts } from './parts.ts';

/** Where commands about keys write to, line by line. */
export interface KeysIo {
  /** What was asked for. */
  readonly write: (line: string) => void;
  /** How far it is. */
  readonly report: (line: string) => void;
  readonly logger: Logger;
}

/** What ends a command, as its exit code: 1 where something is left for an operator to do. */
type ExitCode = 0 | 1;

/** Master keys, their versions, and what is wrapped under them. */
export async function keysStatus(config: KeysStatusConfig, { write, logger }: KeysIo): Promise<ExitCode> {
  return withParts(config, logger, async ({ database, keyManagement }) => {
    const { masters, attention } = await readKeyStatus({ database, management: keyManagement });
    const header = ['MASTER KEY', 'CURRENT', 'SINCE', 'OLDEST', 'DATA KEYS', 'OLDEST ACTIVE'];
    write(renderTable([header, ...masters.map(statusRow)]).trimEnd());
    for (const sentence of attention) write(`! ${sentence}`);
    return attention.length === 0 ? 0 : 1;
  });
}

/** A new version of the master key of tokens, for what is wrapped from now on. */
export async function rotateKeys(config: KeysRotateConfig, { write, logger }: KeysIo): Promise<ExitCode> {
  return withParts(config, logger, async (parts) => {
    const { ifOlderThan: ifOlderThanMs, dataKeys } = config;
    const result = await rotate({ ...rotationParts(parts), clock: systemClock }, { ifOlderThanMs, dataKeys });
    if (!result.rotated) {
      write(`The master key of tokens stays at v${result.version}, which is young enough`);
      return 0;
    }
    write(`The master key of tokens is at v${result.version}`);
    if (dataKeys) {
      write(`${result.deactivatedDataKeys} active data keys are replaced when they are next needed, within 5 minutes`);
    }
    write('Next: tokenkeep keys rewrap, which wraps the data keys there are under it');
    return 0;
  });
}

/** Every data key under the current version of the master key. */
export async function rewrapKeys(config: KeysRewrapConfig, { write, report, logger }: KeysIo): Promise<ExitCode> {
  return withParts(config, logger, async (parts) => {
    const work = config.retire ? rewrapAndRetire : rewrap;
    const onProgress = progressOf('rewrapped', report);
    const { replaced, broken, current } = await work(rotationParts(parts), { onProgress });
    write(`${replaced} data keys rewrapped under v${current}`);
    for (const { tenantId, id } of broken) write(`! data key ${id} of tenant ${tenantId} does not unwrap`);
    if (config.retire) {
      write(`Versions below v${current} are destroyed. Backups of the database from before now hold data keys that no`);
      write('longer unwrap: make a new one');
    }
    return broken.length === 0 ? 0 : 1;
  });
}

/** The data keys of a keyring, moved to Vault's transit engine. The vault must not run meanwhile. */
export async function importKeys(config: KeysImportConfig, { write, report, logger }: KeysIo): Promise<ExitCode> {
  const { dataDir, vaultAddr } = config;
  if (vaultAddr === undefined) throw new Error('keys are imported to Vault: give its --vault-addr');
  const opened = await openCommandDatabase(config, { logger, alone: true });
  try {
    const from = await openKeyringOf(config, opened.database);
    const to = await openTransitOf(config, logger);
    try {
      await to.prepare(async () => false);
      const onProgress = progressOf('moved', report);
      const moved = await importDataKeys({ database: opened.database, takeTurn: turnOf(opened), from, to, onProgress });
      write(`${moved} data keys moved to the transit key ${config.transitKey}; each was unwrapped there first`);
      write(
        `Next: start the vault with --data-dir ${dataDir} --vault-addr ${vaultAddr}. Its keyring.json is needed no`,
      );
      write('more, but to restore backups of the database from before now');
      return 0;
    } finally {
      await to.close();
    }
  } finally {
    await opened.close();
  }
}

async function withParts(
  config: KeysStatusConfig,
  logger: Logger,
  work: (parts: Parts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const parts = await openParts(config, logger);
  try {
    return await work(parts);
  } finally {
    await parts.close();
  }
}

function turnOf({ connectionString }: CommandDatabase) {
  return () => tryAdvisoryLock(connectionString, KEYS_TURN);
}

function rotationParts(parts: Parts) {
  return { database: parts.database, management: parts.keyManagement, takeTurn: turnOf(parts) };
}

function progressOf(what: string, report: (line: string) => void): OnProgress {
  return (done, total) => report(`${what} ${done} of ${total} data keys`);
}

function statusRow({ master, versions, uses }: MasterKeyStatus): string[] {
  const now = Date.now();
  const oldest = uses.flatMap(({ oldestActiveSince }) => oldestActiveSince?.getTime() ?? []);
  return [
    master,
    `v${versions.current}`,
    formatAge(now - versions.currentSince.getTime()),
    `v${versions.oldest}`,
    uses.map(({ version, dataKeys }) => `v${version}: ${dataKeys}`).join(', '),
    oldest.length === 0 ? '' : formatAge(now - Math.min(...oldest)),
  ];
}

import type { Database } from '../../data/database.ts';
import { ABOVE_ALL_VERSIONS, findMasterKey, findVersionUses, type VersionUse } from '../../data/master-keys.ts';
import type { KeyManagement, MasterKey, MasterKeyVersions } from '../../keys/key-management.ts';

export interface MasterKeyStatus {
  readonly master: MasterKey;
  readonly versions: MasterKeyVersions;
  /** What is wrapped under which version. */
  readonly uses: readonly VersionUse[];
}

export interface KeyStatus {
  readonly masters: readonly MasterKeyStatus[];
  /** What an operator is to do, a sentence each. */
  readonly attention: readonly string[];
}

/** Of one master key: what is known on both sides. */
interface Sides extends MasterKeyStatus {
  /** Below which no data key may be stored. */
  readonly fence: number;
}

const MASTER_KEYS = ['tokens', 'cvc'] as const satisfies MasterKey[];
/** The longest time for which NIST SP 800-57 (5.3.6) lets a key wrap others is two years. */
const OVERDUE_MS = 365 * 24 * 3600_000;

/** Throws a DomainError 'unavailable' where Postgres or key management cannot be reached. */
export async function readKeyStatus(
  { database, management }: { database: Database; management: KeyManagement },
  nowMs: number = Date.now(),
): Promise<KeyStatus> {
  const uses = await findVersionUses(database);
  const sides: Sides[] = [];
  for (const master of MASTER_KEYS) {
    sides.push({
      master,
      versions: await management.versions(master),
      uses: uses.filter((use) => use.management === management.name && use.master === master),
      fence: (await findMasterKey(database, { management: management.name, master })).oldestVersion,
    });
  }
  const attention = sides.flatMap((side) => attentionTo(side, nowMs));
  if (sides.some(isBeingImported)) {
    attention.unshift(
      `an import of the ${management.name} was begun and has not ended, and it may wrap no data key until then: stop ` +
        'the vault, and run tokenkeep keys import again',
    );
  }
  return { masters: sides, attention };
}

function isBeingImported({ fence }: Sides): boolean {
  return fence >= ABOVE_ALL_VERSIONS;
}

function attentionTo(side: Sides, nowMs: number): string[] {
  const { master, versions, uses, fence } = side;
  const { current, oldest, currentSince } = versions;
  const countOf = (matches: (version: number) => boolean): number =>
    uses.reduce((sum, { version, dataKeys }) => sum + (matches(version) ? dataKeys : 0), 0);
  const attention: string[] = [];
  const gone = countOf((version) => version < oldest);
  if (gone > 0) {
    attention.push(
      `${gone} data keys are wrapped under versions of ${master} that are destroyed: what they sealed does not open; ` +
        'restore the database and the keys from backups of one time',
    );
  }
  const ahead = countOf((version) => version > current);
  if (ahead > 0) {
    attention.push(
      `${ahead} data keys are wrapped under versions of ${master} that key management does not have: ` +
        'it is older than the database; put its newest state back',
    );
  }
  if (master === 'cvc' || isBeingImported(side)) return attention;
  const behind = countOf((version) => version >= oldest && version < current);
  if (fence > oldest) {
    attention.push(`a retirement of versions below v${fence} was interrupted: run tokenkeep keys rewrap --retire`);
  } else if (behind > 0) {
    attention.push(`${behind} data keys are wrapped under older versions of ${master}: run tokenkeep keys rewrap`);
  }
  if (nowMs - currentSince.getTime() > OVERDUE_MS) {
    attention.push(`the current version of ${master} is older than a year: run tokenkeep keys rotate`);
  }
  return attention;
}

import type { ReactorRow } from '../../data/reactors.ts';
import type { Reactor } from '../../domain/reactors.ts';
import type { KeyedHasher } from '../../keys/keyed-hashes.ts';
import type { SealedPlace, Sealer } from '../../keys/sealing.ts';

/** Of a revision, in hex digits. */
const REVISION_LENGTH = 16;

type Sealable = Pick<Reactor, 'tenantId' | 'id' | 'code' | 'configuration'>;

type Versioned = Pick<
  Reactor,
  'tenantId' | 'id' | 'code' | 'configuration' | 'timeoutSeconds' | 'memoryBytes' | 'scaling'
>;

/** Where a reactor's code and configuration are sealed and opened. */
export interface ReactorVault {
  /**
   * What an instance is started with, in short: equal for equal code, configuration and limits. It is stored beside the
   * sealed columns and stands in process listings, so it is keyed: a guess at the configuration cannot be confirmed by
   * it.
   */
  revisionOf(reactor: Versioned): Promise<string>;
  seal(reactor: Sealable): Promise<Pick<ReactorRow, 'code' | 'configuration'>>;
  /** In the order given. */
  open(rows: readonly ReactorRow[]): Promise<Reactor[]>;
}

function place(reactor: { tenantId: string; id: string }, column: 'code' | 'configuration'): SealedPlace {
  return { tenantId: reactor.tenantId, table: 'reactors', rowId: reactor.id, column };
}

function startedWith(reactor: Versioned): string {
  const configuration = Object.entries(reactor.configuration).sort(([left], [right]) => (left < right ? -1 : 1));
  const { id, code, timeoutSeconds, memoryBytes, scaling } = reactor;
  return JSON.stringify([id, code, configuration, timeoutSeconds, memoryBytes, scaling.concurrency]);
}

export function createReactorVault(sealer: Sealer, hasher: KeyedHasher): ReactorVault {
  return {
    async revisionOf(reactor) {
      // No token type has a space in its name, so that no fingerprint that a caller sees is ever a revision.
      const hash = await hasher.fingerprint(reactor.tenantId, 'revision of a reactor', startedWith(reactor));
      return hash.toString('hex').slice(0, REVISION_LENGTH);
    },
    async seal(reactor) {
      const [code, configuration] = await sealer.sealMany([
        { place: place(reactor, 'code'), plaintext: reactor.code },
        { place: place(reactor, 'configuration'), plaintext: JSON.stringify(reactor.configuration) },
      ]);
      return { code: code!, configuration: configuration! };
    },
    async open(rows) {
      const opened = await sealer.openMany(
        rows.flatMap((row) => [
          { place: place(row, 'code'), sealed: row.code },
          { place: place(row, 'configuration'), sealed: row.configuration },
        ]),
      );
      return rows.map((row, index) => ({
        ...row,
        code: opened[2 * index]!.toString('utf8'),
        configuration: JSON.parse(opened[2 * index + 1]!.toString('utf8')) as Record<string, string>,
      }));
    },
  };
}

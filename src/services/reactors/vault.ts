import type { ReactorRow } from '../../data/reactors.ts';
import type { Reactor } from '../../domain/reactors.ts';
import type { KeyedHasher } from '../../keys/keyed-hashes.ts';
import type { SealedPlace, SealedValue, Sealer } from '../../keys/sealing.ts';

/** Of a revision, in hex digits. */
const REVISION_LENGTH = 16;

type Sealable = Pick<Reactor, 'tenantId' | 'id' | 'code' | 'configuration' | 'revision'>;

type Versioned = Pick<
  Reactor,
  'tenantId' | 'id' | 'code' | 'configuration' | 'timeoutSeconds' | 'memoryBytes' | 'scaling' | 'egress'
>;

/** Where a reactor's code and configuration are sealed and opened. */
export interface ReactorVault {
  /**
   * What an instance is started with, in short: equal for equal code, configuration, limits and egress. It is stored
   * beside the sealed columns and stands in process listings, so it is keyed: a guess at the configuration cannot be
   * confirmed by it.
   */
  revisionOf(reactor: Versioned): Promise<string>;
  seal(reactor: Sealable): Promise<Pick<ReactorRow, 'code' | 'configuration'>>;
  /** In the order given: undefined for one of which what is stored is damaged, which spoils no other. */
  open(rows: readonly ReactorRow[]): Promise<(Reactor | undefined)[]>;
}

// The revision is a function of both: code does not open beside the configuration of another time.
function place({ tenantId, id, revision }: Omit<Sealable, 'code' | 'configuration'>, column: string): SealedPlace {
  return { tenantId, table: 'reactors', rowId: id, column, version: revision };
}

function valuesOf(row: ReactorRow): SealedValue[] {
  const { code, configuration, sealedFormat: format } = row;
  return [
    { place: place(row, 'code'), format, sealed: code },
    { place: place(row, 'configuration'), format, sealed: configuration },
  ];
}

function startedWith(reactor: Versioned): string {
  const configuration = Object.entries(reactor.configuration).sort(([left], [right]) => (left < right ? -1 : 1));
  const { id, code, timeoutSeconds, memoryBytes, scaling, egress } = reactor;
  const limits = [timeoutSeconds, memoryBytes, scaling.concurrency];
  // Nothing where there is no policy: reactors of a time without one keep their revision.
  return JSON.stringify([id, code, configuration, ...limits, ...(egress === null ? [] : [egress.allow])]);
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
      const opened = await sealer.openMany(rows.flatMap(valuesOf));
      return rows.map((row, index) => {
        const [code, configuration] = opened.slice(2 * index, 2 * index + 2);
        if (code === undefined || configuration === undefined) return undefined;
        return {
          ...row,
          code: code.toString('utf8'),
          configuration: JSON.parse(configuration.toString('utf8')) as Record<string, string>,
        };
      });
    },
  };
}

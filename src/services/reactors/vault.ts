import { createHash } from 'node:crypto';
import type { ReactorRow } from '../../data/reactors.ts';
import type { Reactor } from '../../domain/reactors.ts';
import type { SealedPlace, Sealer } from '../../keys/sealing.ts';

type Sealable = Pick<Reactor, 'tenantId' | 'id' | 'code' | 'configuration'>;

/** Where a reactor's code and configuration are sealed and opened. */
export interface ReactorVault {
  seal(reactor: Sealable): Promise<Pick<ReactorRow, 'code' | 'configuration'>>;
  /** In the order given. */
  open(rows: readonly ReactorRow[]): Promise<Reactor[]>;
}

function place(reactor: { tenantId: string; id: string }, column: 'code' | 'configuration'): SealedPlace {
  return { tenantId: reactor.tenantId, table: 'reactors', rowId: reactor.id, column };
}

/**
 * What an instance was started with, in short: equal for equal code, configuration and limits. It goes into answers and
 * process listings, so that it must not let a guess at the configuration be confirmed: the id salts it.
 */
export function revisionOf(
  reactor: Pick<Reactor, 'tenantId' | 'id' | 'code' | 'configuration' | 'timeoutSeconds' | 'memoryBytes' | 'scaling'>,
): string {
  const configuration = Object.entries(reactor.configuration).sort(([left], [right]) => (left < right ? -1 : 1));
  const parts = [
    reactor.tenantId,
    reactor.id,
    reactor.code,
    configuration,
    reactor.timeoutSeconds,
    reactor.memoryBytes,
    reactor.scaling.concurrency,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

export function createReactorVault(sealer: Sealer): ReactorVault {
  return {
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

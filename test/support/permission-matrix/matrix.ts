import type { Permission } from '../../../src/domain/permissions.ts';
import { readTables, type TableRow } from '../markdown-tables.ts';

/** What a person reads, and the tests hold every endpoint to. */
const MATRIX = new URL('../../fixtures/permission-matrix.md', import.meta.url);

export const HOLDERS = ['private', 'public', 'management', 'session'] as const;
export type Holder = (typeof HOLDERS)[number];

/** What one endpoint answers to whom. */
export interface EndpointRow {
  /** `POST /tokens`. */
  endpoint: string;
  /** Undefined: any good key will do. */
  permission: Permission | undefined;
  holders: readonly string[];
  success: number;
  withoutKey: number;
  withBadKey: number;
  withoutPermission: number | undefined;
  /** By kind of id: the answer to one that another tenant has, and alike to one that nobody has. */
  foreignIds: ReadonlyMap<string, number>;
  /**
   * By transform, or `plain` for what is held without a rule: `nothing`, `mask`, `plaintext`, or the status of a
   * refusal; undefined where no token is shown.
   */
  shows: Readonly<Record<string, string>> | undefined;
}

const isGiven = (cell: string | undefined): cell is string => cell !== undefined && cell !== '-';
const listOf = (cell: string | undefined) => (isGiven(cell) ? cell.split(',').map((item) => item.trim()) : []);

function endpointRow(row: TableRow): EndpointRow {
  const { Endpoint: endpoint = '', Permission: permission, plain, redact, mask, reveal } = row;
  const withoutPermission = row['Without it'];
  return {
    endpoint,
    permission: permission === 'any key' ? undefined : (permission as Permission),
    holders: listOf(row['Held by']),
    success: Number(row['Success']),
    withoutKey: Number(row['No key']),
    withBadKey: Number(row['Bad key']),
    withoutPermission: isGiven(withoutPermission) ? Number(withoutPermission) : undefined,
    foreignIds: new Map(
      listOf(row['Foreign id']).map((item) => {
        const [kind = '', status] = item.split(' ');
        return [kind, Number(status)] as const;
      }),
    ),
    shows: isGiven(plain) ? { plain, redact: redact!, mask: mask!, reveal: reveal! } : undefined,
  };
}

export interface PermissionMatrix {
  readonly endpoints: readonly EndpointRow[];
  /** Who may hold each permission. */
  readonly permissions: readonly TableRow[];
  /** Which tokens the rules of each form reach. */
  readonly scopes: readonly TableRow[];
}

export async function readMatrix(): Promise<PermissionMatrix> {
  const tables = await readTables(MATRIX);
  const table = (heading: string) => {
    const rows = tables.get(heading);
    if (rows === undefined) throw new Error(`the matrix has no table "${heading}"`);
    return rows;
  };
  return {
    endpoints: table('Endpoints').map(endpointRow),
    permissions: table('Permissions'),
    scopes: table('Rules'),
  };
}

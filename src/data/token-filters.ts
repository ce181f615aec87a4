import type { Condition } from '../domain/access.ts';
import { foldMetadata } from './token-metadata.ts';
import { UNEXPIRED } from './tokens.ts';

/** Every condition must hold. */
export type TokenScope = readonly Condition[];

/** Which tokens a list shows; what is left out does not narrow it. */
export interface TokenFilter {
  tenantId: string;
  /** What the caller may read: everything, or what lies in one of the scopes. */
  scopes: 'all' | readonly TokenScope[];
  ids?: readonly string[];
  /** With its children. */
  container?: string;
  type?: string;
  fingerprint?: Buffer;
  /** Each entry must be there, whatever the case of its key and value. */
  metadata?: Record<string, string>;
}

/** Whether a filter asks for metadata at all. */
export function hasMetadata(metadata: TokenFilter['metadata']): metadata is Record<string, string> {
  return Object.keys(metadata ?? {}).length > 0;
}

/** Collects the values of a statement while its text is built. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder for a value. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** The condition under which `tokens t` is in the list. Values go into `parameters`, never into the text. */
export function tokenFilterCondition(filter: TokenFilter, parameters: Parameters): string {
  return `${matchCondition(filter, parameters)}\n      and ${UNEXPIRED}`;
}

/**
 * The condition under which `tokens t`, expired or not, matches the filter. Of tenant, container and type alone where
 * the filter asks for nothing else, so that it then holds of anything that has these columns.
 */
export function matchCondition(filter: TokenFilter, parameters: Parameters): string {
  const conditions = [`t.tenant_id = ${parameters.add(filter.tenantId)}`];
  if (filter.scopes !== 'all') conditions.push(anyScope(filter.scopes, parameters));
  if (filter.ids !== undefined) conditions.push(`t.token_id = any (${parameters.add(filter.ids)}::text[])`);
  if (filter.container !== undefined) {
    conditions.push(`starts_with(t.container, ${parameters.add(filter.container.toLowerCase())})`);
  }
  if (filter.type !== undefined) conditions.push(`t.type = ${parameters.add(filter.type)}`);
  if (filter.fingerprint !== undefined) conditions.push(`t.fingerprint = ${parameters.add(filter.fingerprint)}`);
  const metadata = foldMetadata(filter.metadata ?? {});
  if (metadata !== null) conditions.push(`t.metadata_folded @> ${parameters.add(metadata)}::jsonb`);
  return conditions.join('\n      and ');
}

export function anyScope(scopes: readonly TokenScope[], parameters: Parameters): string {
  // A scope without conditions covers nothing, as in decideAccess.
  const covering = scopes.filter((scope) => scope.length > 0);
  if (covering.length === 0) return 'false';
  return `(${covering.map((scope) => allConditions(scope, parameters)).join(' or ')})`;
}

export function allConditions(scope: TokenScope, parameters: Parameters): string {
  const conditions = scope.map(({ attribute, operator, value }) => {
    const column = attribute === 'id' ? 't.token_id' : 't.container';
    const wanted = parameters.add(attribute === 'id' ? value : value.toLowerCase());
    return operator === 'equals' ? `${column} = ${wanted}` : `starts_with(${column}, ${wanted})`;
  });
  return `(${conditions.join(' and ')})`;
}

import { invalid, ViolationCollector } from '../../domain/errors.ts';
import { parseInstant } from '../../domain/instants.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { childPath } from '../../domain/json-guard.ts';
import type { TenantSettings } from '../../domain/tenants.ts';
import { splitCvc, TOKEN_TYPES, type TokenType, type TokenTypeName } from '../../domain/token-types.ts';
import { RequestBudget } from '../../expressions/request-budget.ts';
import { evaluateExpression, evaluateTemplate, type DataScope } from '../../expressions/template.ts';
import { checkTokenForm, type FormContext, requestedContainer, type TokenInput } from './form.ts';
import { type TokenIds, tokenIds } from './ids.ts';
import { textOf } from './text.ts';

/** A token that is ready to be stored: defaults filled in, expressions evaluated. Holds plaintext. */
export interface TokenDraft {
  id: string;
  /** Ids to try in turn where that one is taken. */
  otherIds: TokenIds;
  type: string;
  container: string;
  /** Without the card verification code. */
  data: Json;
  cvc: string | null;
  mask: Json;
  metadata: Record<string, string>;
  searchIndexes: string[] | null;
  searchValues: string[];
  fingerprintExpression: string | null;
  /** Null where the tenant does not fingerprint, or the expression gives nothing that tells tokens apart. */
  fingerprintValue: string | null;
  deduplicate: boolean;
  expiresAt: Date | null;
}

export interface DraftContext extends FormContext {
  settings: TenantSettings;
}

/** The data of a draft with its card verification code, as the caller sent it. */
export function wholeData({ data, cvc }: TokenDraft): Json {
  return cvc === null ? data : { ...(data as JsonObject), cvc };
}

function searchValue(expression: string, scope: DataScope, path: string, budget: RequestBudget): string {
  const value = evaluateExpression(expression, scope, path, budget);
  if (value === null || value === '') throw invalid(path, 'must give a value');
  if (typeof value === 'object') throw invalid(path, 'must give one value, not a list or an object');
  return textOf(value);
}

function searchValues(expressions: readonly string[], scope: DataScope, path: string, budget: RequestBudget): string[] {
  const violations = new ViolationCollector();
  const values = expressions.map((expression, index) =>
    violations.collect(() => searchValue(expression, scope, childPath(path, index), budget)),
  );
  violations.throwIfAny();
  return values as string[];
}

/**
 * Turns what a caller asks for into a token that can be stored.
 *
 * Throws one 'invalid' error with every fault of the input's form; expressions that fail on the data itself are
 * reported together after that, since they need data that is sound. None of them ever sees a card verification code.
 */
export function draftToken(
  input: TokenInput,
  { settings, now, path, budget = new RequestBudget() }: DraftContext,
): TokenDraft {
  const violations = new ViolationCollector();
  checkTokenForm(input, { now, path, budget }, violations);
  violations.throwIfAny();

  const type: TokenType = TOKEN_TYPES[input.type as TokenTypeName];
  const { data, cvc } = splitCvc(input.type, input.data);
  const { metadata = {}, mask = type.mask, search_indexes: searchIndexes = type.searchIndexes ?? null } = input;
  const scope = { data, metadata };
  const fingerprintExpression = input.fingerprint_expression ?? type.fingerprintExpression;
  const evaluate = <Value>(name: string, work: (path: string) => Value) =>
    violations.collect(() => work(childPath(path, name)));

  const ids = tokenIds(input.id, input.type, scope, childPath(path, 'id'), budget);
  // The first one now, so that an expression that gives no id is reported with the rest.
  const first = evaluate('id', () => ids.next());
  // Evaluated here only to refuse a mask that cannot be shown later.
  evaluate('mask', (at) => evaluateTemplate(mask, scope, at, budget));
  const values = evaluate('search_indexes', (at) => searchValues(searchIndexes ?? [], scope, at, budget));
  const fingerprintValue = evaluate('fingerprint_expression', (at) =>
    settings.fingerprintTokens ? textOf(evaluateExpression(fingerprintExpression, scope, at, budget)) : '',
  );
  violations.throwIfAny();
  return {
    id: first!.value!,
    otherIds: ids,
    type: input.type,
    container: requestedContainer(input) ?? type.container,
    ...{ data, cvc, mask, metadata, searchIndexes, fingerprintExpression },
    searchValues: values!,
    fingerprintValue: fingerprintValue! === '' ? null : fingerprintValue!,
    deduplicate: input.deduplicate_token ?? settings.deduplicateTokens,
    expiresAt: typeof input.expires_at === 'string' ? parseInstant(input.expires_at)! : null,
  };
}

import { CONTAINER_LENGTH, isContainer, normalizeContainer } from '../../domain/containers.ts';
import { ViolationCollector } from '../../domain/errors.ts';
import { INSTANT_FORMATS, parseInstant } from '../../domain/instants.ts';
import type { Json } from '../../domain/json.ts';
import { childPath } from '../../domain/json-guard.ts';
import type { TenantSettings } from '../../domain/tenants.ts';
import {
  identifyingValue,
  isTokenTypeName,
  splitCvc,
  TOKEN_TYPE_NAMES,
  TOKEN_TYPES,
  type TokenType,
} from '../../domain/token-types.ts';
import { faultOfTokenId } from '../../domain/tokens.ts';
import { checkTemplate, containsExpression, evaluateExpression, evaluateTemplate } from '../../expressions/template.ts';

/** A token as a caller asks for it; members have the JSON types of the API's schema. */
export interface TokenInput {
  id?: string;
  type: string;
  data: Json;
  mask?: Json;
  containers?: string[];
  metadata?: Record<string, string>;
  search_indexes?: string[] | null;
  fingerprint_expression?: string | null;
  deduplicate_token?: boolean;
  expires_at?: string | null;
  privacy?: { classification?: string; impact_level?: string };
}

/** A token that is ready to be stored: defaults filled in, expressions evaluated. Holds plaintext. */
export interface TokenDraft {
  /** Ids to try in this order; after the last one a random UUID is taken. */
  id: { given: string } | { candidates: () => string } | undefined;
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
  fingerprintValue: string | null;
  deduplicate: boolean;
  expiresAt: Date | null;
}

export interface DraftContext {
  settings: TenantSettings;
  now: number;
  /** Where the input lies in the body: empty for a body that is the token itself. */
  path: string;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

function draftContainer(input: TokenInput, type: TokenType, path: string, violations: ViolationCollector): string {
  const [given] = input.containers ?? [];
  const { classification, impact_level: impactLevel } = input.privacy ?? {};
  const legacy = classification && impactLevel ? `/${classification}/${impactLevel}/` : undefined;
  const container = normalizeContainer(given ?? legacy ?? type.container);
  if (!isContainer(container)) {
    const field = given === undefined ? 'privacy' : 'containers[0]';
    violations.add(
      childPath(path, field),
      `must be a path such as /pci/high/ of at most ${CONTAINER_LENGTH} characters`,
    );
  }
  return container;
}

function draftExpiry(input: TokenInput, context: DraftContext, violations: ViolationCollector): Date | null {
  if (input.expires_at === undefined || input.expires_at === null) return null;
  const path = childPath(context.path, 'expires_at');
  const instant = parseInstant(input.expires_at);
  if (instant === undefined) violations.add(path, INSTANT_FORMATS);
  else if (instant.getTime() <= context.now) violations.add(path, 'must be in the future');
  return instant ?? null;
}

function checkExpressions(input: TokenInput, path: string, violations: ViolationCollector): void {
  const check = (template: Json | undefined, name: string) => {
    if (template !== undefined && template !== null) checkTemplate(template, childPath(path, name), violations);
  };
  check(input.id, 'id');
  check(input.mask, 'mask');
  check(input.search_indexes, 'search_indexes');
  check(input.fingerprint_expression, 'fingerprint_expression');
}

function searchValue(expression: string, data: Json, metadata: Record<string, string>, path: string): string {
  const value = evaluateExpression(expression, { data, metadata }, path);
  const violations = new ViolationCollector();
  if (value === null || value === '') violations.add(path, 'must give a value');
  else if (typeof value === 'object') violations.add(path, 'must give one value, not a list or an object');
  violations.throwIfAny();
  return textOf(value);
}

function checkId(id: string, type: string, data: Json, path: string): string {
  const violations = new ViolationCollector();
  const fault = faultOfTokenId(id);
  const secret = identifyingValue(type, data);
  if (fault !== undefined) violations.add(path, fault);
  // Ids are shown to everyone, logged and sent in URLs.
  else if (secret !== undefined && id.includes(secret)) violations.add(path, 'must not contain the data of the token');
  violations.throwIfAny();
  return id;
}

function draftId(input: TokenInput, data: Json, path: string): TokenDraft['id'] {
  const { id, type, metadata = {} } = input;
  if (id === undefined) return undefined;
  const at = childPath(path, 'id');
  if (!containsExpression(id)) return { given: checkId(id, type, data, at) };
  return {
    candidates: () => checkId(textOf(evaluateExpression(id, { data, metadata }, at)), type, data, at),
  };
}

/**
 * Turns what a caller asks for into a token that can be stored.
 *
 * Throws one 'invalid' error with every fault of the input's form; an expression that fails on the data itself is
 * reported after that, since it needs data that is sound. Expressions never see a card verification code.
 */
export function draftToken(input: TokenInput, context: DraftContext): TokenDraft {
  const { path } = context;
  const violations = new ViolationCollector();
  if (!isTokenTypeName(input.type)) {
    violations.add(childPath(path, 'type'), `must be one of ${TOKEN_TYPE_NAMES.join(', ')}`);
    violations.throwIfAny();
  }
  const type: TokenType = TOKEN_TYPES[input.type as keyof typeof TOKEN_TYPES];
  type.validate(input.data, childPath(path, 'data'), violations);
  const container = draftContainer(input, type, path, violations);
  const expiresAt = draftExpiry(input, context, violations);
  checkExpressions(input, path, violations);
  violations.throwIfAny();

  const { data, cvc } = splitCvc(input.type, input.data);
  const metadata = input.metadata ?? {};
  const mask = input.mask === undefined ? type.mask : input.mask;
  // Evaluated here only to refuse a mask that cannot be shown later.
  if (mask !== null) evaluateTemplate(mask, { data, metadata }, childPath(path, 'mask'));
  const searchIndexes = input.search_indexes === undefined ? (type.searchIndexes ?? null) : input.search_indexes;
  const fingerprintExpression = input.fingerprint_expression ?? type.fingerprintExpression;
  return {
    id: draftId(input, data, path),
    type: input.type,
    container,
    data,
    cvc,
    mask,
    metadata,
    searchIndexes,
    searchValues: (searchIndexes ?? []).map((expression, index) =>
      searchValue(expression, data, metadata, `${childPath(path, 'search_indexes')}[${index}]`),
    ),
    fingerprintExpression,
    fingerprintValue: context.settings.fingerprintTokens
      ? textOf(evaluateExpression(fingerprintExpression, { data, metadata }, childPath(path, 'fingerprint_expression')))
      : null,
    deduplicate: input.deduplicate_token ?? context.settings.deduplicateTokens,
    expiresAt,
  };
}

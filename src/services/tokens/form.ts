import { CONTAINER_FORM, isContainer, normalizeContainer } from '../../domain/containers.ts';
import type { ViolationCollector } from '../../domain/errors.ts';
import { INSTANT_FORMATS, parseInstant } from '../../domain/instants.ts';
import type { Json } from '../../domain/json.ts';
import { childPath } from '../../domain/json-guard.ts';
import { isTokenTypeName, TOKEN_TYPE_NAMES, TOKEN_TYPES } from '../../domain/token-types.ts';
import { faultOfTokenId } from '../../domain/tokens.ts';
import type { RequestBudget } from '../../expressions/request-budget.ts';
import { checkTemplate, containsExpression } from '../../expressions/template.ts';

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

export interface FormContext {
  now: number;
  /** Where the input lies in the body: empty for a body that is the token itself. */
  path: string;
  /** Shared by the tokens of one request; without one, this token has one of its own. */
  budget?: RequestBudget | undefined;
}

/** The container that a caller asks for, in its one spelling; undefined where the type's default serves. */
export function requestedContainer({ containers, privacy = {} }: Partial<TokenInput>): string | undefined {
  const { classification, impact_level: impactLevel } = privacy;
  const legacy = classification && impactLevel ? `/${classification}/${impactLevel}/` : undefined;
  const container = containers?.[0] ?? legacy;
  return container === undefined ? undefined : normalizeContainer(container);
}

function checkContainers(input: Partial<TokenInput>, path: string, violations: ViolationCollector): void {
  const { containers = [] } = input;
  const check = (container: string | undefined, field: string) => {
    if (container === undefined || isContainer(normalizeContainer(container))) return;
    violations.add(childPath(path, field), CONTAINER_FORM);
  };
  if (containers.length === 0) check(requestedContainer(input), 'privacy');
  containers.forEach((container, index) => check(container, `containers[${index}]`));
}

function checkExpiry(text: string, now: number, path: string, violations: ViolationCollector): void {
  const instant = parseInstant(text);
  if (instant === undefined) violations.add(path, INSTANT_FORMATS);
  else if (instant.getTime() <= now) violations.add(path, 'must be in the future');
}

function checkId(id: string, path: string, violations: ViolationCollector, budget?: RequestBudget): void {
  if (containsExpression(id)) return checkTemplate(id, path, violations, budget);
  const fault = faultOfTokenId(id);
  if (fault !== undefined) violations.add(path, fault);
}

/**
 * Records every way in which a token breaks the rules of its form: those that take no expression's value to see.
 * Members that are absent are not missed here: the API's schema says which are required.
 */
export function checkTokenForm(input: Partial<TokenInput>, context: FormContext, violations: ViolationCollector): void {
  const { id, type, data, expires_at: expiresAt } = input;
  const at = (name: string) => childPath(context.path, name);
  if (type !== undefined && !isTokenTypeName(type)) {
    violations.add(at('type'), `must be one of ${TOKEN_TYPE_NAMES.join(', ')}`);
  } else if (type !== undefined && data !== undefined) {
    TOKEN_TYPES[type].validate(data, at('data'), violations);
  }
  if (id !== undefined) checkId(id, at('id'), violations, context.budget);
  checkContainers(input, context.path, violations);
  if (typeof expiresAt === 'string') checkExpiry(expiresAt, context.now, at('expires_at'), violations);
  for (const name of ['mask', 'search_indexes', 'fingerprint_expression'] as const) {
    checkTemplate(input[name] ?? null, at(name), violations, context.budget);
  }
}

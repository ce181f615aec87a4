import { randomUUID } from 'node:crypto';
import { invalid } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { identifyingValue } from '../../domain/token-types.ts';
import { faultOfTokenId } from '../../domain/tokens.ts';
import type { RequestBudget } from '../../expressions/request-budget.ts';
import { containsExpression, evaluateExpression, type DataScope } from '../../expressions/template.ts';
import { textOf } from './text.ts';

/** How often an id's expression is evaluated for a value that is free, before a UUID is taken. */
const ATTEMPTS = 5;

/** Shorter numbers turn up in ids by chance. */
const TELLING_LENGTH = 6;

function holdsData(id: string, type: string, data: Json): boolean {
  const secret = identifyingValue(type, data)?.replaceAll('-', '');
  if (secret === undefined) return false;
  const digits = id.replaceAll('-', '');
  return digits === secret || (secret.length >= TELLING_LENGTH && digits.includes(secret));
}

/** The id itself; throws 'invalid' where it cannot be one. Ids are shown to everyone, logged and sent in URLs. */
function soundId(id: string, type: string, data: Json, path: string): string {
  const fault = faultOfTokenId(id);
  if (fault !== undefined) throw invalid(path, fault);
  if (holdsData(id, type, data)) throw invalid(path, 'must not contain the data of the token');
  return id;
}

/** Ids to try, best first: one that was given alone, else values of an expression, and last a random UUID. */
export type TokenIds = Generator<string, undefined>;

/** The ids of a new token. Each is evaluated as it is asked for, and throws 'invalid' where it cannot be one. */
export function* tokenIds(
  id: string | undefined,
  type: string,
  scope: DataScope,
  path: string,
  budget: RequestBudget,
): TokenIds {
  if (id !== undefined && !containsExpression(id)) {
    yield soundId(id, type, scope.data, path);
    return undefined;
  }
  if (id !== undefined) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const value = evaluateExpression(id, scope, path, budget);
      yield soundId(textOf(value), type, scope.data, path);
    }
  }
  yield randomUUID();
  return undefined;
}

import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { DomainError, type ViolationCollector } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { everyName, guardJson, type NamedMembers } from '../../domain/json-guard.ts';
import type { ContentType } from '../route.ts';
import type { ApiContext } from '../state.ts';
import { invalidRequest } from '../validation/validator.ts';

/** Largest JSON body where a route names no other, in bytes (choices, section 2). */
export const BODY_LIMIT_BYTES = 1024 * 1024;

function requireContentType(ctx: ApiContext, contentType: ContentType): void {
  // `request.is` would take `*/json` families; a merge patch must be called one (RFC 7386).
  const isPlain = ['', 'identity'].includes(ctx.get('content-encoding').toLowerCase());
  const charset = (ctx.request.charset || 'utf-8').toLowerCase();
  if (ctx.request.type.toLowerCase() === contentType && isPlain && charset === 'utf-8') return;
  throw new DomainError(
    'unsupported-media-type',
    `Send the body in UTF-8, not encoded, with Content-Type: ${contentType}.`,
  );
}

async function readBytes(request: IncomingMessage, length: number | undefined, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit, length });
  } catch (error) {
    const type = (error as { type?: string }).type;
    if (type === 'entity.too.large') {
      throw new DomainError('too-large', `The body must not be larger than ${limit} bytes.`);
    }
    throw invalidRequest('The body ended before its announced length.');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Buffer): Json {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidRequest('The body is not UTF-8.');
  }
  try {
    return JSON.parse(text) as Json;
  } catch {
    // V8's message would quote the body.
    throw invalidRequest('The body is not valid JSON.');
  }
}

/** How a route's body differs from others. */
export interface BodyTerms {
  readonly named?: NamedMembers;
  readonly limitBytes?: number | undefined;
}

/**
 * Reads the JSON body of a request, refusing wrong types and oversize, and records what no body may hold, under paths
 * of members that the API names.
 */
export async function readJsonBody(
  ctx: ApiContext,
  contentType: ContentType,
  violations: ViolationCollector,
  { named = everyName, limitBytes = BODY_LIMIT_BYTES }: BodyTerms = {},
): Promise<Json> {
  requireContentType(ctx, contentType);
  const body = parse(await readBytes(ctx.req, ctx.request.length, limitBytes));
  guardJson(body, violations, named);
  return body;
}

import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Cursors } from '../../../services/cursors.ts';
import type { BroadReadParts } from '../../../services/tokens/broad-reads.ts';
import { createToken } from '../../../services/tokens/create.ts';
import { deleteToken } from '../../../services/tokens/delete.ts';
import { detokenize } from '../../../services/tokens/detokenize.ts';
import type { TokenInput } from '../../../services/tokens/form.ts';
import { followTokens, pageTokens, type TokenListFilter } from '../../../services/tokens/list.ts';
import { readToken } from '../../../services/tokens/read.ts';
import { tokenize } from '../../../services/tokens/tokenize.ts';
import { type TokenPatch, updateToken } from '../../../services/tokens/update.ts';
import type { UpdateTurns } from '../../../services/update-turns.ts';
import { type CursorQuery, type OffsetQuery, presentCursorPage, presentOffsetPage } from '../../pagination.ts';
import { type Route, route } from '../../route.ts';
import {
  cursorEnvelope,
  cursorParameters,
  idsParameter,
  locationHeader,
  noContent,
  offsetEnvelope,
  offsetParameters,
  pathId,
} from '../../schemas/common.ts';
import { broadResponses } from './broad-responses.ts';
import { tokenInputCheck, refinePatch, refineToken } from './check.ts';
import { readMetadataFilter } from './metadata-filter.ts';
import { presentToken } from './present.ts';
import * as schema from './schema.ts';
import { tokenSearchRoutes } from './search.ts';

const tag = 'Tokens';
const damagedToken = { description: 'What is stored of the token is damaged, and was refused.' };
const damagedDuplicate = {
  description: 'What is stored of the token that would be given in the place of a new one is damaged.',
};
const tokenId = pathId('Id of the token.', { type: 'string', maxLength: 400 });
const card = { type: 'card', data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 } };

interface ListQuery {
  id?: string[];
  container?: string;
  type?: string;
  fingerprint?: string;
}

function listFilter(query: ListQuery, rawQuery: URLSearchParams): TokenListFilter {
  const { id: ids, container, type, fingerprint } = query;
  return { ids, container, type, fingerprint, metadata: readMetadataFilter(rawQuery) };
}

/** The path under which a token is found. */
function locationOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}

export function tokenRoutes(
  parts: BroadReadParts & { readonly cursors: Cursors; readonly tokenUpdates: UpdateTurns },
): Route[] {
  const { clock } = parts;
  const check = tokenInputCheck(clock);
  return [
    route<TokenInput>({
      method: 'post',
      path: '/tokens',
      operationId: 'createToken',
      tag,
      summary: 'Create a token',
      description: 'The answer shows `data` masked.',
      permission: 'token:create',
      body: { contentType: 'application/json', schema: schema.createToken, example: card, refine: refineToken(clock) },
      responses: {
        200: { description: 'A token of this type and fingerprint exists; this is it.', schema: schema.token },
        201: { description: 'The token.', schema: schema.token, headers: locationHeader },
        409: { description: 'The id is taken.' },
        422: damagedDuplicate,
      },
      async handle({ caller, body }) {
        const { shown, created } = await createToken(parts, caller, body);
        if (!created) return { status: 200, body: presentToken(shown) };
        return { status: 201, body: presentToken(shown), headers: { Location: locationOf(shown.token.id) } };
      },
    }),
    route<unknown, OffsetQuery & ListQuery>({
      method: 'get',
      path: '/tokens',
      operationId: 'listTokens',
      tag,
      summary: 'List tokens by page',
      permission: 'token:read',
      parameters: [
        idsParameter('Tokens with these ids.', { type: 'string', maxLength: 400 }),
        ...schema.metadataParameters,
        ...offsetParameters,
      ],
      responses: {
        200: { description: 'A page, newest first.', schema: offsetEnvelope(schema.token) },
        ...broadResponses,
      },
      async handle({ caller, query, rawQuery, signal }) {
        const { page: number, size } = query;
        const page = await pageTokens(parts, caller, listFilter(query, rawQuery), { page: number, size, signal });
        return { status: 200, page: presentOffsetPage(page, query, presentToken) };
      },
    }),
    route<unknown, CursorQuery & ListQuery>({
      method: 'get',
      path: '/v2/tokens',
      operationId: 'listTokensV2',
      tag,
      summary: 'List tokens by cursor',
      permission: 'token:read',
      parameters: [...schema.listFilters, ...schema.metadataParameters, ...cursorParameters],
      responses: {
        200: { description: 'A page, newest first.', schema: cursorEnvelope(schema.token) },
        ...broadResponses,
      },
      async handle({ caller, query, rawQuery, signal }) {
        const { start, size } = query;
        const page = await followTokens(parts, caller, listFilter(query, rawQuery), { start, size, signal });
        return { status: 200, page: presentCursorPage(page, query, presentToken) };
      },
    }),
    route({
      method: 'get',
      path: '/tokens/{id}',
      operationId: 'getToken',
      tag,
      summary: 'Read a token',
      permission: 'token:read',
      parameters: [tokenId],
      responses: { 200: { description: 'The token.', schema: schema.token }, 422: damagedToken },
      async handle({ caller, params }) {
        return { status: 200, body: presentToken(await readToken(parts, caller, params['id']!)) };
      },
    }),
    route<TokenPatch>({
      method: 'patch',
      path: '/tokens/{id}',
      operationId: 'updateToken',
      tag,
      summary: 'Update a token',
      description: '`data`, `mask` and `metadata` are merged (RFC 7386); other fields are replaced.',
      permission: 'token:update',
      parameters: [tokenId],
      body: {
        contentType: 'application/merge-patch+json',
        schema: schema.patchToken,
        example: { metadata: { customer: '42' } },
        refine: refinePatch(clock),
      },
      responses: {
        200: { description: 'The token.', schema: schema.token },
        409: { description: 'Others keep updating the token.' },
        422: damagedToken,
      },
      async handle({ caller, params, body, signal }) {
        const shown = await updateToken(parts, caller, params['id']!, body, signal);
        // A copy of plaintext would outlive the token, and a code its retention. A merge patch can be repeated as it
        // is.
        return { status: 200, body: presentToken(shown), unkept: shown.revealed === true };
      },
    }),
    route({
      method: 'delete',
      path: '/tokens/{id}',
      operationId: 'deleteToken',
      tag,
      summary: 'Delete a token',
      permission: 'token:delete',
      parameters: [tokenId],
      responses: { 204: noContent, 409: { description: 'Others keep changing the token.' } },
      async handle({ caller, params }) {
        await deleteToken(parts, caller, params['id']!);
        return { status: 204 };
      },
    }),
    route<Json>({
      method: 'post',
      path: '/tokenize',
      operationId: 'tokenize',
      tag,
      summary: 'Replace every value of a payload by a token',
      permission: 'token:create',
      body: { contentType: 'application/json', schema: schema.tokenizeRequest, example: { card, note: 'a secret' } },
      responses: {
        200: { description: 'The payload with tokens.', schema: schema.tokenizeResponse },
        409: { description: 'An id is taken; nothing was stored.' },
        422: damagedDuplicate,
      },
      async handle({ caller, body }) {
        const options = { check, render: presentToken, needsPermission: true };
        return { status: 200, body: await tokenize(parts, caller, body, options) };
      },
    }),
    route<JsonObject>({
      method: 'post',
      path: '/detokenize',
      operationId: 'detokenize',
      tag,
      summary: 'Replace expressions by the plaintext of tokens',
      description: 'Every token named must be granted with the transform `reveal`.',
      permission: 'token:read',
      safe: true,
      body: {
        contentType: 'application/json',
        schema: schema.detokenizeRequest,
        example: { number: "{{ d2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4 | json: '$.number' }}" },
      },
      responses: {
        200: { description: 'The plaintext.', schema: schema.detokenizeResponse },
        422: { description: 'What is stored of a token that it names is damaged, and was refused.' },
      },
      async handle({ caller, body }) {
        return { status: 200, body: await detokenize(parts, caller, body, presentToken) };
      },
    }),
    ...tokenSearchRoutes(parts),
  ];
}

import { parseSearchQuery } from '../../../domain/search-query-parser.ts';
import { SEARCH_FIELDS, SEARCH_LIMITS } from '../../../domain/search-query.ts';
import type { Cursors } from '../../../services/cursors.ts';
import type { BroadReadParts } from '../../../services/tokens/broad-reads.ts';
import { followFoundTokens, pageFoundTokens } from '../../../services/tokens/search.ts';
import { presentCursorPage, presentOffsetPage } from '../../pagination.ts';
import { type Refine, type Route, route, type Schema } from '../../route.ts';
import { cursorEnvelope, cursorParameters, offsetEnvelope, offsetParameters } from '../../schemas/common.ts';
import { broadResponses } from './broad-responses.ts';
import { presentToken } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Tokens';

const description = `Finds tokens that the application may both search and read, newest first; each is shown as the grant
that shows less does. A write is found by the very next search.

A query is made of terms, \`field:value\` or \`field:"a phrase"\`, with AND, OR, NOT (in capital letters; NOT before AND
before OR) and parentheses between them. In a phrase, \`\\"\` and \`\\\\\` stand for \`"\` and \`\\\`. Fields are ${SEARCH_FIELDS}:

- \`data\` is one of the values of the token's search indexes, exactly. Tokens whose data is redacted for the application
  have no data here.
- \`container\` is one container, or with a trailing \`*\` all that begin like it: \`/pci/*\` is \`/pci/\` with what is below.
- \`metadata.<key>\` compares without regard to case; other keys than words are quoted: \`metadata."a key":value\`.
- \`created_at:[<from> TO <to>]\` takes instants as \`expires_at\` does, both included, or \`*\` for an open end.

Without a query, or with an empty one, every such token is found.`;

const numbered = `Pages, and \`total_items\`, end at ${SEARCH_LIMITS.reach} tokens; follow cursors for more.`;

interface SearchBody {
  query?: string | null;
  page?: number | null;
  size?: number | null;
  start?: string | null;
}

/** A member that may be left out, or null, which some client libraries send for that. */
function optional(member: Schema): Schema {
  return { ...member, type: [member['type'], 'null'] };
}

function searchBody(paging: typeof offsetParameters): Schema {
  const members = paging.map((parameter) => [
    parameter.name,
    optional({ ...parameter.schema, description: parameter.description }),
  ]);
  const query = { type: 'string', maxLength: SEARCH_LIMITS.queryLength, description: 'What is searched for.' };
  return { type: 'object', properties: { query: optional(query), ...Object.fromEntries(members) } };
}

const refineSearch: Refine = ({ query }, violations) => {
  if (typeof query === 'string') violations.collect(() => parseSearchQuery(query));
};

export function tokenSearchRoutes(parts: BroadReadParts & { readonly cursors: Cursors }): Route[] {
  return [
    route<SearchBody>({
      method: 'post',
      path: '/tokens/search',
      operationId: 'searchTokens',
      tag,
      summary: 'Search tokens by page',
      description: `${description} ${numbered}`,
      permission: 'token:search',
      safe: true,
      body: {
        contentType: 'application/json',
        schema: searchBody(offsetParameters),
        example: { query: 'data:6789 AND type:social_security_number', page: 1, size: 20 },
        refine: refineSearch,
      },
      responses: {
        200: { description: 'A page, newest first.', schema: offsetEnvelope(schema.token) },
        ...broadResponses,
      },
      async handle({ caller, body, signal }) {
        const paging = { page: body.page ?? 1, size: body.size ?? 20 };
        const page = await pageFoundTokens(parts, caller, body.query ?? '', { ...paging, signal });
        return { status: 200, page: presentOffsetPage(page, paging, presentToken) };
      },
    }),
    route<SearchBody>({
      method: 'post',
      path: '/v2/tokens/search',
      operationId: 'searchTokensV2',
      tag,
      summary: 'Search tokens by cursor',
      description,
      permission: 'token:search',
      safe: true,
      body: {
        contentType: 'application/json',
        schema: searchBody(cursorParameters),
        example: { query: 'container:/pci/* AND NOT metadata.status:closed', size: 20 },
        refine: refineSearch,
      },
      responses: {
        200: { description: 'A page, newest first.', schema: cursorEnvelope(schema.token) },
        ...broadResponses,
      },
      async handle({ caller, body, signal }) {
        const paging = { start: body.start ?? undefined, size: body.size ?? 20 };
        const page = await followFoundTokens(parts, caller, body.query ?? '', { ...paging, signal });
        return { status: 200, page: presentCursorPage(page, paging, presentToken) };
      },
    }),
  ];
}

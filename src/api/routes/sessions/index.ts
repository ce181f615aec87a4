import { authorizeSession, type SessionAuthorization } from '../../../services/sessions/authorize.ts';
import { createSession, type SessionParts } from '../../../services/sessions/create.ts';
import { type Route, route } from '../../route.ts';
import { refineAuthorization } from './check.ts';
import * as schema from './schema.ts';

const tag = 'Sessions';

export function sessionRoutes(parts: SessionParts): Route[] {
  return [
    route({
      method: 'post',
      path: '/sessions',
      operationId: 'createSession',
      tag,
      summary: 'Create a session of a public application',
      description: 'The session lives for 3 minutes and may do nothing until it is authorized.',
      permission: null,
      applicationType: 'public',
      responses: { 201: { description: 'The session.', schema: schema.createdSession } },
      async handle({ caller }) {
        const { key, nonce, expiresAt } = await createSession(parts, caller);
        // Every browser has the key of the application, and could ask for the session of another one again.
        const unkept = true;
        return { status: 201, body: { session_key: key, nonce, expires_at: expiresAt.toISOString() }, unkept };
      },
    }),
    route<SessionAuthorization>({
      method: 'post',
      path: '/sessions/authorize',
      operationId: 'authorizeSession',
      tag,
      summary: 'Grant a session part of what a private application may do',
      description:
        'Access that is more than what the application has itself is refused with 403. The session has it for as ' +
        'long as the application could give it: it ends with the application, and may do nothing once that loses ' +
        'any of it.',
      permission: null,
      applicationType: 'private',
      body: {
        contentType: 'application/json',
        schema: schema.authorizeSession,
        refine: refineAuthorization(parts.clock),
        example: {
          nonce: 'Zk3v0Q8b1mXy2tR5sW7uP9aC4dE6fG8hJ0kL2nM4pQ6',
          rules: [
            {
              priority: 1,
              conditions: [{ attribute: 'id', operator: 'equals', value: 'c1a5b2d0-0e6a-4d0c-9a4b-2f3f0f6f7a11' }],
              transform: 'reveal',
              permissions: ['token:read'],
            },
          ],
        },
      },
      responses: {
        200: { description: 'The session is authorized; the answer has no body.' },
        404: { description: 'There is no session with this nonce, or it has ended.' },
        409: { description: 'The nonce has been used.' },
      },
      async handle({ caller, body }) {
        await authorizeSession(parts, caller, body);
        return { status: 200 };
      },
    }),
  ];
}

import { randomBytes, randomUUID } from 'node:crypto';
import type { AccessRule, Transform } from '../../../src/domain/access.ts';
import { APPLICATION_TYPES, type ApplicationType } from '../../../src/domain/applications.ts';
import { DEFAULT_SCALING, REACTOR_DEFAULTS } from '../../../src/domain/declarations.ts';
import { PERMISSION_NAMES } from '../../../src/domain/permissions.ts';
import { invocationIdOf } from '../invocation-id.ts';
import type { Answer, TestVault } from '../vault.ts';
import { ECHO, SECRET_TOKEN } from './requests.ts';

/** Ids of one tenant that requests name, by kind. `running` is a reactor that has an instance. */
export interface Subjects {
  token: string;
  application: string;
  applicationKey: string;
  reactor: string;
  running: string;
  nonce: string;
  /** Of an asynchronous invocation that none of the keys asked for. */
  invocation: string;
}
export type SubjectKind = keyof Subjects;

/** A tenant with a key of each application type that may do whatever its type may. */
export interface Tenancy {
  readonly tenantId: string;
  readonly keys: Readonly<Record<ApplicationType, string>>;
  /**
   * Subjects of the kinds that `build` asks for: new ones, so that each request of the endpoint may change or delete
   * its own. Reactors, whose code is tried before they are made, are new only where they are deleted.
   */
  subjectsFor(endpoint: string, build: (id: Subjects) => unknown): Promise<Subjects>;
  /** The key of a new session that has been granted these rules. */
  sessionKey(rules: readonly AccessRule[], lifetimeMs?: number): Promise<string>;
}

/** The kinds of ids that a request names. */
export function kindsNamedBy(build: (id: Subjects) => unknown): SubjectKind[] {
  const kinds = new Set<SubjectKind>();
  build(
    new Proxy({} as Subjects, {
      get(_, kind) {
        kinds.add(kind as SubjectKind);
        return 'any';
      },
    }),
  );
  return [...kinds];
}

/** A rule that grants whatever there is to do with tokens, everywhere. */
export function everything(transform: Transform): AccessRule {
  const permissions = PERMISSION_NAMES.filter((name) => name.startsWith('token:'));
  return { priority: 1, container: '/', transform, permissions };
}

/** Ids of the right form that nobody has. */
export function unknownSubjects(): Subjects {
  return {
    token: randomUUID(),
    application: randomUUID(),
    applicationKey: randomUUID(),
    reactor: randomUUID(),
    running: randomUUID(),
    nonce: randomBytes(32).toString('base64url'),
    invocation: randomUUID(),
  };
}

export async function createTenancy(vault: TestVault): Promise<Tenancy> {
  const tenantId = await vault.tenant();
  const made = await Promise.all(APPLICATION_TYPES.map((type) => vault.application({ tenantId, type })));
  const keys = Object.fromEntries(APPLICATION_TYPES.map((type, index) => [type, made[index]!.key])) as Record<
    ApplicationType,
    string
  >;
  const authorizer = await vault.application({ tenantId, permissions: [], rules: [everything('reveal')] });
  let running: Promise<string> | undefined;
  let lasting: Promise<string> | undefined;

  async function post(type: ApplicationType, path: string, body: object): Promise<Answer['body']> {
    const answer = await vault.request('POST', path, { key: keys[type], body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function reactor(minReplicas: number): Promise<string> {
    const id = randomUUID();
    const { status } = await vault.internal('PUT', `/tenants/${tenantId}/reactors/${id}`, {
      ...{ name: 'Echo', code: ECHO, configuration: {}, ...REACTOR_DEFAULTS },
      scaling: { ...DEFAULT_SCALING, minReplicas },
    });
    if (status !== 200) throw new Error(`reactor not put: ${status}`);
    return id;
  }

  function idleReactor(endpoint: string): Promise<string> {
    return endpoint.startsWith('DELETE') ? reactor(0) : (lasting ??= reactor(0));
  }

  async function application(): Promise<Pick<Subjects, 'application' | 'applicationKey'>> {
    const { id, keys: made } = await post('management', '/applications', {
      ...{ name: 'Subject', type: 'private', permissions: ['token:create'] },
    });
    return { application: id as string, applicationKey: made[0].id as string };
  }

  // Of an application of its own: whoever asked is the only one that it is shown to.
  async function invocation(): Promise<Pick<Subjects, 'reactor' | 'invocation'>> {
    const { key } = await vault.application({ tenantId, permissions: ['token:use'] });
    const id = await (lasting ??= reactor(0));
    const body = { callback_url: 'https://callback.invalid/' };
    const accepted = await vault.request('POST', `/reactors/${id}/react`, { key, body });
    if (accepted.status !== 202) throw new Error(`not accepted: ${accepted.status} ${JSON.stringify(accepted.body)}`);
    return { reactor: id, invocation: invocationIdOf(accepted) };
  }

  return {
    tenantId,
    keys,
    async sessionKey(rules, lifetimeMs = 600_000) {
      const { session_key: key, nonce } = await post('public', '/sessions', {});
      const { status } = await vault.request('POST', '/sessions/authorize', {
        key: authorizer.key,
        body: { nonce, rules, expires_at: new Date(Date.now() + lifetimeMs).toISOString() },
      });
      if (status !== 200) throw new Error(`session not authorized: ${status}`);
      return key as string;
    },
    async subjectsFor(endpoint, build) {
      const kinds = kindsNamedBy(build);
      const [token, owner, idle, busy, session, asked] = await Promise.all([
        kinds.includes('token') ? post('private', '/tokens', SECRET_TOKEN) : undefined,
        kinds.includes('application') ? application() : undefined,
        kinds.includes('reactor') ? idleReactor(endpoint) : undefined,
        kinds.includes('running') ? (running ??= reactor(1)) : undefined,
        kinds.includes('nonce') ? post('public', '/sessions', {}) : undefined,
        kinds.includes('invocation') ? invocation() : undefined,
      ]);
      return {
        ...unknownSubjects(),
        ...owner,
        ...(token ? { token: token.id as string } : {}),
        ...(idle ? { reactor: idle } : {}),
        ...(session ? { nonce: session.nonce as string } : {}),
        ...(busy ? { running: busy } : {}),
        ...asked,
      };
    },
  };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApplicationType } from '../../src/domain/applications.ts';
import { declaredId, tenantIdOf } from '../../src/domain/declarations.ts';
import { mayHold, PERMISSION_NAMES } from '../../src/domain/permissions.ts';
import { eventually } from '../support/eventually.ts';
import { invocationIdOf } from '../support/invocation-id.ts';
import { startStandalone, type StandaloneProgram } from '../support/standalone.ts';
import { createStandaloneFolder } from '../support/standalone-folder.ts';
import type { Answer } from '../support/vault.ts';

/** An application whose key requests are sent with. */
export interface Identity {
  readonly name: string;
  readonly id: string;
  readonly key: string;
}

/** A real vault in a process of its own, with two tenants that hold the same kinds of application. */
export interface JudgeStage extends AsyncDisposable {
  readonly baseUrl: string;
  /** A folder for files of the judge, which goes away with the stage. */
  readonly folder: string;
  /** Ids of reactors of the judged tenant that can be run. */
  readonly reactors: readonly string[];
  /** Ids of asynchronous invocations of theirs, by the private application of the judged tenant. */
  readonly invocations: readonly string[];
  /** An application of the judged tenant, and its like in the other tenant, which must see nothing of it. */
  identities(type: ApplicationType): Promise<readonly [Identity, Identity]>;
  /** Operations, as `post /tokens`, that have succeeded at least once so far. */
  succeeded(): Promise<ReadonlySet<string>>;
  /** Whether its key is good still. */
  isKnown(identity: Identity): Promise<boolean>;
}

// Thousands of requests a minute: what is judged here is answers, not limits.
const quotas = { rateLimit: 'Unlimited', tokenize: 1000, detokenize: 1000 };
const TENANTS = [
  { name: 'default', namespace: 'default', spec: { quotas } },
  { name: 'other', namespace: 'elsewhere', spec: { quotas, namespaces: { matchNames: ['elsewhere'] } } },
] as const;
type Place = (typeof TENANTS)[number];
const TYPES = ['private', 'public', 'management'] as const satisfies readonly ApplicationType[];

/** The token that the examples of the document name, so that they can be followed to a success. */
const EXAMPLE_TOKEN = {
  id: 'd2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4',
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 },
};
const REACTOR = { name: 'Echo', code: 'module.exports = async (req) => ({ raw: req.args });', configuration: {} };

function manifests(): string {
  const document = (kind: string, metadata: object, spec: object): string =>
    `---\n${JSON.stringify({ apiVersion: 'tokenkeep.dev/v1alpha1', kind, metadata, spec })}\n`;
  return TENANTS.flatMap(({ name, namespace, spec }) => [
    document('Tenant', { name }, spec),
    ...TYPES.map((type) => {
      const all = PERMISSION_NAMES.filter((permission) => mayHold(type, permission));
      // What detokenizes must be revealed to, which a plain permission never is.
      const revealing = { priority: 1, container: '/', transform: 'reveal', permissions: all };
      const access = type === 'private' ? { rules: [revealing] } : { permissions: all };
      return document('Application', { name: type, namespace }, { displayName: type, type, ...access });
    }),
  ]).join('');
}

/** Nobody receives it: what is judged is the result. */
const CALLBACK = { args: { a: 1 }, callback_url: 'https://callbacks.invalid/' };

async function create(
  program: StandaloneProgram,
  path: string,
  application: string,
  body: object,
  status = 201,
): Promise<Answer> {
  const answer = await program.request('POST', path, { key: await program.keyOf(application), body });
  if (answer.status !== status) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

export async function setJudgeStage(): Promise<JudgeStage> {
  const folder = await createStandaloneFolder();
  await folder.write('stage.yaml', manifests());
  const program = await startStandalone({ ...folder, flags: ['--ip-rate-limits', 'off'] });
  await create(program, '/tokens', 'private', EXAMPLE_TOKEN);
  const reactor = (await create(program, '/reactors', 'management', REACTOR)).body.id as string;
  const invocation = invocationIdOf(await create(program, `/reactors/${reactor}/react`, 'private', CALLBACK, 202));

  async function identityIn({ name: tenant, namespace }: Place, type: ApplicationType): Promise<Identity> {
    const file = join(folder.dataDir, 'secrets', namespace, `${type}-api-key`, 'api-key');
    const key = await eventually(() => readFile(file, 'utf8'));
    return { name: `${namespace}-${type}`, id: declaredId(tenantIdOf(tenant), 'Application', namespace, type), key };
  }

  return {
    baseUrl: program.baseUrl,
    folder: folder.root,
    reactors: [reactor],
    invocations: [invocation],
    identities: async (type) => [await identityIn(TENANTS[0], type), await identityIn(TENANTS[1], type)],
    async succeeded() {
      const samples = await (await fetch(program.metricsUrl)).text();
      const found = samples.matchAll(/_request_duration_seconds_count\{method="(\w+)",route="([^"]+)",status="2\d\d"/g);
      return new Set(Array.from(found, ([, method = '', path]) => `${method.toLowerCase()} ${path}`));
    },
    async isKnown({ key }) {
      const { status } = await program.request('GET', '/applications/key', { key });
      return status !== 401;
    },
    async [Symbol.asyncDispose]() {
      await program.stop();
      await folder.dispose();
    },
  };
}

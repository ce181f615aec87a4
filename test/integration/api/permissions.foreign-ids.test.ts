import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type EndpointRow, readMatrix } from '../../support/permission-matrix/matrix.ts';
import { REQUESTS, type RequestOfEndpoint } from '../../support/permission-matrix/requests.ts';
import { type PlainAnswer, send } from '../../support/permission-matrix/send.ts';
import {
  createTenancy,
  everything,
  kindsNamedBy,
  type SubjectKind,
  type Subjects,
  type Tenancy,
  unknownSubjects,
} from '../../support/permission-matrix/tenancy.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const { endpoints } = await readMatrix();

type Build = (id: Subjects) => RequestOfEndpoint;

/** Further places of a body in which ids of tokens may stand. */
const PLACES: readonly [endpoint: string, place: string, build: Build][] = [
  ['POST /detokenize', 'a list', (id) => ({ path: '/detokenize', body: { tokens: [id.token] } })],
  ['POST /detokenize', 'a list of expressions', (id) => body('/detokenize', { tokens: [`{{ token: ${id.token} }}`] })],
  ['POST /detokenize', 'an expression of the whole', (id) => body('/detokenize', { all: `{{ token: ${id.token} }}` })],
  ['POST /detokenize', 'a filtered expression', (id) => body('/detokenize', { in: [`a {{ ${id.token} | last4 }}`] })],
  [
    'POST /detokenize',
    'one of several',
    (id) => body('/detokenize', { a: `{{ ${id.token} }}`, b: `{{ ${randomUUID()} }}` }),
  ],
  [
    'POST /reactors/{id}/react',
    'a nested argument',
    (id) => react(id, { deep: [{ card: `{{ token: ${id.token} }}` }] }),
  ],
  ['POST /reactors/{id}/react', 'a filtered argument', (id) => react(id, { last: `{{ ${id.token} | last4 }}` })],
  ['POST /tokens/search', 'an alternative', (id) => body('/tokens/search', { query: `id:${id.token} OR id:nothing` })],
];

function body(path: string, value: object): RequestOfEndpoint {
  return { path, body: value };
}

function react(id: Subjects, args: object): RequestOfEndpoint {
  return body(`/reactors/${id.running}/react`, { args });
}

/** The answer with the id that was asked for, where it repeats that, struck out. */
function withoutId({ status, headers, text }: PlainAnswer, id: string): PlainAnswer {
  const strike = (value: string) => value.replaceAll(id, '<the id>');
  const struck = Object.entries(headers).map(([name, value]) => [name, strike(value)]);
  return { status, headers: Object.fromEntries(struck) as Record<string, string>, text: strike(text) };
}

describe('ids of another tenant', function () {
  this.timeout(60_000);
  let vault: TestVault;
  let owner: Tenancy;
  let stranger: Tenancy;
  /** Each may do whatever an application of its type ever may; the narrow one where no token is. */
  let keys: Readonly<Record<'owner' | 'private' | 'narrow', string>>;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    [owner, stranger] = await Promise.all([createTenancy(vault), createTenancy(vault)]);
    const keyOn = async ({ tenantId }: Tenancy, container: string) => {
      const rules = [{ ...everything('reveal'), container }];
      return (await vault.application({ tenantId, permissions: [], rules })).key;
    };
    keys = {
      owner: await keyOn(owner, '/'),
      private: await keyOn(stranger, '/'),
      narrow: await keyOn(stranger, '/nowhere/'),
    };
  });
  after(() => vault.stop());

  function askers(holders: readonly string[], kind: SubjectKind): string[] {
    if (holders.includes('management')) return [stranger.keys.management];
    return kind === 'token' ? [keys.private, keys.narrow] : [keys.private];
  }

  /** Asks with everything of the stranger's own but one id: the owner's, and one that nobody has. */
  async function expectAlike(endpoint: string, holders: readonly string[], build: Build, kind: SubjectKind) {
    const [own, theirs] = await Promise.all([
      stranger.subjectsFor(endpoint, build),
      owner.subjectsFor(endpoint, build),
    ]);
    const nobodys = unknownSubjects();
    const statuses = new Set<number>();
    for (const key of askers(holders, kind)) {
      const [foreign, unknown] = await Promise.all(
        [theirs, nobodys].map(async (ids) => {
          const answer = await send(vault, endpoint, build({ ...own, [kind]: ids[kind] }), key);
          return withoutId(answer, ids[kind]);
        }),
      );
      expect(foreign).to.deep.equal(unknown);
      statuses.add(foreign!.status);
    }
    expect([...statuses]).to.have.length(1);
    return { status: [...statuses][0]!, theirs };
  }

  async function expectUntouched({ endpoint, holders, success }: EndpointRow, build: Build, theirs: Subjects) {
    const key = holders.includes('management') ? owner.keys.management : keys.owner;
    expect((await send(vault, endpoint, build(theirs), key)).status, 'to its owner').to.equal(success);
  }

  for (const row of endpoints) {
    const build = REQUESTS[row.endpoint];
    if (build === undefined || (row.foreignIds.size === 0 && kindsNamedBy(build).length === 0)) continue;
    it(`answer ${row.endpoint} as ids that nobody has`, async () => {
      const statuses: [SubjectKind, number][] = [];
      for (const kind of kindsNamedBy(build)) {
        const { status, theirs } = await expectAlike(row.endpoint, row.holders, build, kind);
        statuses.push([kind, status]);
        await expectUntouched(row, build, theirs);
      }
      expect(statuses).to.have.deep.members([...row.foreignIds]);
    });
  }

  for (const [endpoint, place, build] of PLACES) {
    it(`answer ${endpoint} as ids that nobody has, in ${place}`, async () => {
      const row = endpoints.find((candidate) => candidate.endpoint === endpoint)!;
      const { status } = await expectAlike(endpoint, row.holders, build, 'token');
      expect(status).to.equal(row.foreignIds.get('token'));
    });
  }
});

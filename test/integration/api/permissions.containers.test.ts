import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AccessRule, Condition } from '../../../src/domain/access.ts';
import { readMatrix } from '../../support/permission-matrix/matrix.ts';
import { PLAINTEXT, type RequestOfEndpoint } from '../../support/permission-matrix/requests.ts';
import { send } from '../../support/permission-matrix/send.ts';
import { createTenancy, everything, type Tenancy } from '../../support/permission-matrix/tenancy.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const { endpoints, scopes } = await readMatrix();

/** Where a token lies, and how its id begins. */
interface Place {
  column: string;
  container: string;
  prefix: string;
}

const PLACES: readonly Place[] = Object.keys(scopes[0]!)
  .slice(1)
  .map((column) => ({
    column,
    container: column.split(' ')[0]!,
    prefix: column.endsWith('another id') ? 'In-scope-' : 'in-scope-',
  }));

/** Reads `container /pci/`, or conditions such as `id equals x and container starts_with /pci/`. */
function scopeOf(text: string): Pick<AccessRule, 'container' | 'conditions'> {
  const parts = text.split(' and ').map((part) => part.split(' '));
  if (parts[0]!.length === 2) return { container: parts[0]![1]! };
  return {
    conditions: parts.map(([attribute, operator, value]) => ({ attribute, operator, value }) as Condition),
  };
}

interface Target {
  id: string;
  container: string;
}

type Probe = (token: Target, reactor: string) => RequestOfEndpoint;
const secret = ({ id, container }: Target) => ({ type: 'token', id, data: PLAINTEXT, containers: [container] });

/** Each endpoint whose answer depends on where a token lies. */
const PROBES: Readonly<Record<string, Probe>> = {
  'POST /tokens': (token) => ({ path: '/tokens', body: secret({ ...token, id: `${token.id}-created` }) }),
  'POST /tokenize': (token) => ({ path: '/tokenize', body: secret({ ...token, id: `${token.id}-tokenized` }) }),
  'GET /tokens': ({ id }) => ({ path: `/tokens?id=${id}` }),
  'GET /v2/tokens': () => ({ path: '/v2/tokens?size=100' }),
  'GET /tokens/{id}': ({ id }) => ({ path: `/tokens/${id}` }),
  'POST /tokens/search': ({ id }) => ({ path: '/tokens/search', body: { query: `id:${id}` } }),
  'POST /v2/tokens/search': ({ id }) => ({ path: '/v2/tokens/search', body: { query: `id:${id}` } }),
  'POST /detokenize': ({ id }) => ({ path: '/detokenize', body: { tokens: [id] } }),
  'POST /reactors/{id}/react': ({ id }, reactor) => ({
    path: `/reactors/${reactor}/react`,
    body: { args: { id, value: `{{ ${id} }}` } },
  }),
  'PATCH /tokens/{id}': ({ id }) => ({ path: `/tokens/${id}`, body: { metadata: { seen: 'yes' } } }),
  'DELETE /tokens/{id}': ({ id }) => ({ path: `/tokens/${id}` }),
};

describe('rules and where tokens lie', function () {
  this.timeout(60_000);
  let vault: TestVault;
  let tenancy: Tenancy;
  let reactor: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    tenancy = await createTenancy(vault);
    reactor = (await tenancy.subjectsFor('POST /reactors/{id}/react', (id) => id.running)).running;
  });
  after(() => vault.stop());

  async function tokenIn({ container, prefix }: Place): Promise<Target> {
    const target = { id: `${prefix}${randomUUID()}`, container };
    const { status } = await vault.request('POST', '/tokens', { key: tenancy.keys.private, body: secret(target) });
    expect(status).to.equal(201);
    return target;
  }

  /** Whether the endpoint works on the token; refused means 403, or that a list does not have it. */
  async function reaches(endpoint: string, token: Target, key: string): Promise<boolean> {
    const { status, text } = await send(vault, endpoint, PROBES[endpoint]!(token, reactor), key);
    if (status === 403) return false;
    expect(status, `${endpoint} on ${token.container}`).to.be.oneOf([200, 201, 204]);
    return status === 204 || text.includes(token.id);
  }

  async function holders(scope: ReturnType<typeof scopeOf>): Promise<Record<string, string>> {
    const { container: _, ...all } = everything('reveal');
    const rules = [{ ...all, ...scope }];
    const { key } = await vault.application({ tenantId: tenancy.tenantId, permissions: [], rules });
    return { application: key, session: await tenancy.sessionKey(rules) };
  }

  it('are tried on every endpoint that shows or changes tokens', () => {
    const about = endpoints.filter(({ shows }) => shows !== undefined).map(({ endpoint }) => endpoint);
    expect(Object.keys(PROBES)).to.have.members(about);
  });

  for (const row of scopes) {
    const text = row['Rule']!;
    it(`a rule on ${text}`, async () => {
      for (const [holder, key] of Object.entries(await holders(scopeOf(text)))) {
        const found = await Promise.all(
          PLACES.map(async (place) => {
            const token = await tokenIn(place);
            const wrong: string[] = [];
            // One after the other: the last of them deletes the token.
            for (const endpoint of Object.keys(PROBES)) {
              if ((await reaches(endpoint, token, key)) !== (row[place.column] === 'yes')) wrong.push(endpoint);
            }
            return [place.column, wrong] as const;
          }),
        );
        const none = PLACES.map(({ column }) => [column, []]);
        expect(found, `endpoints that differ from the table for the ${holder}`).to.deep.equal(none);
      }
    });
  }
});

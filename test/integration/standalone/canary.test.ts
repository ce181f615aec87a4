import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createCanaryScanner,
  randomCardNumber,
  randomDigits,
  randomRoutingNumber,
  randomSecret,
  type Sighting,
} from '../../support/canary.ts';
import { createStandaloneFolder, UNLIMITED_TENANT, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { startStandalone, type RequestOptions, type StandaloneProgram } from '../../support/standalone.ts';

const DECLARED_APPLICATIONS = [
  {
    kind: 'Application',
    name: 'payments',
    spec: {
      type: 'private',
      permissions: ['token:create', 'token:update', 'token:delete', 'token:use'],
      rules: [{ description: 'All', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
    },
  },
  {
    kind: 'Application',
    name: 'admin',
    spec: {
      type: 'management',
      permissions: ['application', 'reactor']
        .flatMap((resource) => ['create', 'read', 'update', 'delete'].map((operation) => `${resource}:${operation}`))
        .concat('log:read'),
    },
  },
];

/** In the clear by design: what proves that the scan reads the right bytes. */
const METADATA = `metadata${randomSecret()}`;
const TOKEN_ID = `token-${randomSecret()}`;

describe('canaries planted through every endpoint', function () {
  this.timeout(120_000);

  const secrets: Record<string, string> = {};
  const sightings: Sighting[] = [];
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let payments: string;
  let admin: string;
  let printed = '';

  /** A value of its own for each place, so that a sighting tells where it came from. */
  const plant = (name: string, value = randomSecret()): string => (secrets[name] = value);

  /** Sends a request that must come to this status: one refused too early would plant nothing. */
  async function send(status: number, method: string, path: string, options: RequestOptions = {}) {
    const answer = await vault.request(method, path, { key: payments, ...options });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(status);
    return answer.body;
  }

  async function start(): Promise<void> {
    vault = await startStandalone({ ...folder, flags: ['--log-level', 'debug', '--ip-rate-limits', 'off'] });
    payments = await vault.keyOf('payments');
    admin = await vault.keyOf('admin');
  }

  before(async () => {
    folder = await createStandaloneFolder();
    await folder.write('applications.yaml', [UNLIMITED_TENANT, ...DECLARED_APPLICATIONS]);
    await folder.write('reactors.yaml', [
      {
        kind: 'Reactor',
        name: 'declared',
        spec: {
          code: `module.exports = async () => ({ raw: '${plant('code of a declared reactor')}' });`,
          configuration: { SECRET: plant('configuration of a declared reactor') },
        },
      },
    ]);
    await start();
  });
  after(async () => {
    await vault.kill();
    await folder.dispose();
  });

  async function plantTokens(): Promise<void> {
    const card = { number: plant('card', randomCardNumber()), expiration_month: 1, expiration_year: 2031 };
    const cvc = randomDigits(4);
    plant('cvc as a member', `cvc":"${cvc}`);
    await send(201, 'POST', '/tokens', {
      body: {
        ...{ id: TOKEN_ID, type: 'card', data: { ...card, cvc } },
        metadata: { clear: METADATA },
        mask: { literal: plant('literal of a mask'), last4: '{{ data.number | last4 }}' },
        search_indexes: ['{{ data.number }}', '{{ data.number | append: "." }}'],
        fingerprint_expression: '{{ data.number }}{{ data.expiration_year }}',
      },
    });
    const account = plant('bank account', randomDigits(17));
    const routing = plant('routing number', randomRoutingNumber());
    const data = { account_number: account, routing_number: routing };
    await send(201, 'POST', '/tokens', { body: { id: 'bank', type: 'bank', data } });
    const primitives = {
      card_number: randomCardNumber(),
      us_bank_account_number: randomDigits(16),
      us_bank_routing_number: randomRoutingNumber(),
      social_security_number: randomDigits(9),
      employer_id_number: randomDigits(9),
      token: randomSecret(),
    };
    for (const [type, value] of Object.entries(primitives)) {
      await send(201, 'POST', '/tokens', { body: { id: `of-${type}`, type, data: plant(type, value) } });
    }
    const twin = { type: 'token', data: { a: plant('deduplicated') }, deduplicate_token: true };
    await send(201, 'POST', '/tokens', { body: twin });
    await send(200, 'POST', '/tokens', { body: twin });
    await send(200, 'PATCH', '/tokens/of-token', { body: { data: plant('patched'), mask: plant('patched mask') } });
    await send(200, 'POST', '/tokenize', {
      body: { plain: plant('tokenized'), object: { type: 'token', data: [plant('tokenized object')] } },
    });
    await send(201, 'POST', '/tokens', { body: { id: 'gone', type: 'token', data: plant('deleted') } });
    await send(204, 'DELETE', '/tokens/gone');
  }

  async function readTokens(): Promise<void> {
    for (const path of [`/tokens/${TOKEN_ID}`, '/tokens/bank', '/tokens', '/v2/tokens?size=100'])
      await send(200, 'GET', path);
    await send(200, 'POST', '/detokenize', { body: { tokens: [TOKEN_ID, 'bank'] } });
    await send(200, 'POST', '/detokenize', {
      body: { number: `{{ ${TOKEN_ID} | json: "$.number" }}`, plain: plant('plain beside expressions') },
    });
  }

  async function plantInRefusals(): Promise<void> {
    const refuse = (status: number, method: string, path: string, options: RequestOptions) =>
      send(status, method, path, options);
    await refuse(400, 'POST', '/tokens', { rawBody: `{"type": "token", "data": "${plant('bad JSON')}"` });
    await refuse(400, 'POST', '/tokens', {
      body: { type: 'card', data: { number: `${plant('bad Luhn', `4${'1'.repeat(8)}${randomDigits(6)}`)}` } },
    });
    await refuse(400, 'POST', '/tokens', { body: { type: plant('bad type'), data: 1 } });
    await refuse(400, 'POST', '/tokens', { body: { type: 'token', data: 1, containers: [plant('bad container')] } });
    await refuse(400, 'POST', '/tokens', { body: { type: 'token', data: 1, id: `#${plant('bad id')}` } });
    await refuse(400, 'POST', '/tokens', { body: { type: 'token', data: 1, expires_at: plant('bad instant') } });
    await refuse(400, 'POST', '/tokens', {
      body: { type: 'token', data: plant('data beside a bad mask'), mask: `{{ data | ${plant('bad filter')} }}` },
    });
    await refuse(400, 'POST', '/tokens', {
      body: {
        type: 'token',
        data: { n: plant('data of a failing cast') },
        fingerprint_expression: '{{ data.n | to_number }}',
      },
    });
    await refuse(409, 'POST', '/tokens', { body: { id: 'bank', type: 'token', data: plant('data of a taken id') } });
    await refuse(415, 'POST', '/tokens', {
      rawBody: plant('body of another type'),
      headers: { 'content-type': 'text/plain' },
    });
    await refuse(413, 'POST', '/tokens', { rawBody: `"${plant('oversized body')}${' '.repeat(2 ** 20)}"` });
    await refuse(400, 'PATCH', '/tokens/bank', { body: { data: { account_number: plant('bad patch') } } });
    await refuse(404, 'PATCH', '/tokens/nowhere', { body: { data: plant('patch of nothing') } });
    await refuse(403, 'POST', '/tokens', { key: admin, body: { type: 'token', data: plant('forbidden') } });
    await refuse(401, 'POST', '/tokens', {
      key: plant('malformed key'),
      body: { type: 'token', data: plant('unauthenticated') },
    });
    await refuse(404, 'GET', `/tokens/${plant('unknown id')}`, {});
    await refuse(404, 'GET', `/${plant('unknown path')}`, {});
    await refuse(400, 'GET', `/tokens?size=${plant('bad query')}`, {});
    await refuse(400, 'GET', `/v2/tokens?start=${plant('bad cursor')}`, {});
    await refuse(400, 'POST', '/detokenize', { body: { a: `{{ ${plant('unknown id in an expression')} }}` } });
    await refuse(400, 'POST', '/detokenize', { body: { a: '{{ of-token | to_number }}' } });
    await refuse(400, 'POST', '/tokenize', { body: { type: 'card', data: { number: plant('bad tokenize') } } });
    await refuse(400, 'POST', '/applications', {
      key: admin,
      body: { name: 'x', type: plant('bad application type') },
    });
    await refuse(400, 'POST', '/reactors', { key: admin, body: { name: 'x', code: plant('incomplete reactor') } });
    await refuse(422, 'POST', '/reactors', {
      key: admin,
      body: {
        name: 'x',
        code: `module.exports = '${plant('code that is refused')}' ?! `,
        configuration: { A: plant('configuration beside it') },
      },
    });
  }

  async function plantInApplications(): Promise<void> {
    const body = { name: 'Made', type: 'private', permissions: ['token:create', 'token:read', 'token:use'] };
    const made = await send(201, 'POST', '/applications', { key: admin, body });
    plant('key of a new application', made.key);
    await send(200, 'GET', '/applications/key', { key: admin });
    const key = await send(201, 'POST', `/applications/${made.id}/keys`, { key: admin });
    plant('further key', key.key);
    await send(200, 'GET', '/tokens', { key: key.key });
    await send(204, 'DELETE', `/applications/${made.id}/keys/${key.id}`, { key: admin });
    await send(401, 'GET', '/tokens', { key: key.key });
    await plantInReactors(made.id);
  }

  async function plantInReactors(application: string): Promise<void> {
    const code = `
        module.exports = async ({ args, configuration, svc }) => {
          console.log('${plant('logged by code')}', args, configuration);
          if (args.what === 'throw') throw new Error('${plant('thrown by code')}' + args.secret + configuration.SECRET);
          if (args.what === 'custom') throw new CustomHttpResponseError({ status: 418, headers: {}, body: { a: args.secret } });
          if (args.what === 'bad') throw new BadRequestError(args.secret);
          if (args.what === 'reject') return new Promise((_, reject) => setTimeout(() => reject(args.secret), 5));
          if (args.what === 'loop') for (;;);
          if (args.what === 'unserializable') return { raw: BigInt(1), secret: args.secret };
          if (args.what === 'svc') {
            const token = await svc.tokens.create({ type: 'token', data: args.secret });
            await svc.tokens.retrieve(token.id);
            await svc.tokens.create({ type: 'card', data: { number: args.secret } });
          }
          return { raw: { card: args.card }, tokenize: { kept: args.secret } };
        };`;
    const configuration = { SECRET: plant('configuration') };
    const body = { name: 'Canaries', code, configuration, application: { id: application } };
    const { id } = await send(201, 'POST', '/reactors', { key: admin, body });
    await send(200, 'GET', `/reactors/${id}`, { key: admin });
    await send(200, 'GET', '/reactors', { key: admin });
    const react = (status: number, what: string) =>
      send(status, 'POST', `/reactors/${id}/react`, {
        body: { args: { what, secret: plant(`argument: ${what}`), card: `{{ ${TOKEN_ID} }}` } },
      });
    await react(200, 'tokenize');
    await react(500, 'throw');
    await react(418, 'custom');
    await react(400, 'bad');
    await react(500, 'reject');
    await react(500, 'unserializable');
    await react(400, 'svc');
    await send(204, 'PATCH', `/reactors/${id}`, {
      key: admin,
      body: { configuration: { SECRET: plant('patched configuration') } },
    });
  }

  async function plantUntilKilled(): Promise<void> {
    const writing = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; ; round += 1) {
        const data = plant(`under load ${writer}.${round}`);
        const body = { type: 'token', data, fingerprint_expression: '{{ data }}', search_indexes: ['{{ data }}'] };
        await send(201, 'POST', '/tokens', { body });
      }
    });
    await Promise.race([...writing, readTokens()]);
    await vault.kill();
    const ends = await Promise.allSettled(writing);
    expect(ends.every(({ status }) => status === 'rejected')).to.equal(true);
  }

  async function look(moment: string, scanner = createCanaryScanner(secrets)): Promise<void> {
    const found = await scanner.scanFolder(folder.dataDir);
    sightings.push(...found.sightings.map((sighting) => ({ ...sighting, place: `${sighting.place} (${moment})` })));
    sightings.push(...scanner.scan(`standard output and error (${moment})`, printed));
  }

  it('turn up neither on disk nor in any output, also after a kill', async () => {
    await plantTokens();
    await readTokens();
    await plantInRefusals();
    await plantInApplications();
    await send(200, 'GET', '/logs?size=100', { key: admin });
    const scanner = createCanaryScanner(secrets);
    sightings.push(...scanner.scan('metrics', await (await fetch(vault.metricsUrl)).text()));
    for (const path of ['/openapi.json', '/docs', '/readyz', '/logs?size=100']) {
      sightings.push(...scanner.scan(path, JSON.stringify(await send(200, 'GET', path, { key: admin }))));
    }
    await plantUntilKilled();
    const killed = vault.output();
    printed += killed.stdout + killed.stderr;
    await look('after the kill');

    await start();
    await readTokens();
    const { code, stdout, stderr } = await vault.stop();
    expect(code).to.equal(0);
    printed += stdout + stderr;
    await look('after a stop');
    expect(sightings).to.deep.equal([]);
  });

  it('are looked for in the bytes that hold what is stored in the clear', async () => {
    const clear = createCanaryScanner({ metadata: METADATA, id: TOKEN_ID });
    const { sightings: seen, bytes } = await clear.scanFolder(folder.dataDir);
    const places = (canary: string) => seen.filter((sighting) => sighting.canary === canary).map(({ place }) => place);
    expect(bytes).to.be.above(2 ** 24);
    for (const canary of ['metadata', 'id']) {
      expect(
        places(canary).some((place) => place.startsWith('postgres/base/')),
        `${canary} in a table`,
      ).to.equal(true);
      expect(
        places(canary).some((place) => place.startsWith('postgres/pg_wal/')),
        `${canary} in the WAL`,
      ).to.equal(true);
    }
    expect(printed).to.include('"reason":"KeyCreated"');
  });

  it('stay in the Secret where they belong, and keys in the keyring', async () => {
    const keyring = await readFile(join(folder.dataDir, 'keyring.json'), 'utf8');
    const { masters } = JSON.parse(keyring) as { masters: Record<string, { key: string }[]> };
    const scanner = createCanaryScanner({
      'a declared key': payments,
      'another declared key': admin,
      'the password of Postgres': await readFile(join(folder.dataDir, 'postgres-password'), 'utf8'),
      ...Object.fromEntries(Object.entries(masters).map(([name, [first]]) => [`master key ${name}`, first!.key])),
    });
    const { sightings: seen } = await scanner.scanFolder(folder.dataDir);
    const places = seen.map(({ canary, place }) => `${canary}: ${place}`).sort();
    expect(places).to.deep.equal([
      'a declared key: secrets/default/payments-api-key/api-key',
      'another declared key: secrets/default/admin-api-key/api-key',
      'master key cvc: keyring.json',
      'master key tokens: keyring.json',
      'the password of Postgres: postgres-password',
    ]);
    expect(scanner.scan('output', printed)).to.deep.equal([]);
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  DEFAULT_SCALING,
  REACTOR_DEFAULTS,
  type ReactorDeclaration,
  type ReactorScaling,
} from '../../../src/domain/declarations.ts';
import type { Json } from '../../../src/domain/json.ts';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import { eventually } from '../../support/eventually.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const MEBIBYTE = 1024 * 1024;
const ECHO = 'module.exports = async ({ args }) => ({ raw: args });';
const TOKENIZE = 'module.exports = async ({ args }) => ({ tokenize: args.values });';
/** One character, in two UTF-16 units and four bytes of UTF-8. */
const EMOJI = '\u{1F600}';

describe('limits of reactors over the API', function () {
  this.timeout(60_000);
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;
  let user: TestApplication;
  let echo: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    contract = await readContract(vault);
    const tenantId = await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, tokenize: 101 } });
    manager = await vault.application({ type: 'management', tenantId });
    user = await vault.application({ tenantId });
    echo = created(await create({ code: ECHO }));
  });
  after(() => vault.stop());

  const create = (overrides: object) =>
    contract.request('POST', '/reactors', {
      ...{ key: manager.key, body: { name: 'Reactor', code: ECHO, configuration: {}, ...overrides } },
    });

  function created({ status, body }: Answer): string {
    expect(status).to.equal(201);
    return body.id as string;
  }

  /** What only the control plane may set, it sets over the internal API. */
  const declare = (declaration: Partial<ReactorDeclaration>, id = randomUUID()) =>
    vault.internal('PUT', `/tenants/${user.tenantId}/reactors/${id}`, {
      ...{ name: 'Declared', code: ECHO, configuration: {}, scaling: DEFAULT_SCALING, ...REACTOR_DEFAULTS },
      ...declaration,
    });

  async function declared(declaration: Partial<ReactorDeclaration>): Promise<string> {
    const id = randomUUID();
    expect((await declare(declaration, id)).status).to.equal(200);
    return id;
  }

  const react = (id: string, args: Json, more: object = {}) =>
    contract.request('POST', `/reactors/${id}/react`, { key: user.key, body: { args, ...more } });

  function expectRefused({ status, body }: Answer, path: string): void {
    expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, [path]]);
  }

  describe('what is stored', () => {
    const longest = ECHO + `//${EMOJI}`.padEnd(50_000 - ECHO.length + 1, '.');
    const textsOf = (count: number, value = '') =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`N${index}`, value]));

    for (const [what, fits, exceeds, path] of [
      ['code of 50,000 characters', { code: longest }, { code: `${longest}.` }, 'code'],
      ['a name of 200', { name: EMOJI.repeat(200) }, { name: EMOJI.repeat(201) }, 'name'],
      ['25 entries', { configuration: textsOf(25) }, { configuration: textsOf(26) }, 'configuration'],
      [
        'entries of 10,000 characters',
        { configuration: { A: EMOJI.repeat(10_000) } },
        { configuration: { A: EMOJI.repeat(10_001) } },
        'configuration.A',
      ],
    ] as const) {
      it(`is at most ${what}, created, replaced, patched or declared`, async () => {
        const id = created(await create(fits));
        expectRefused(await create(exceeds), path);
        const { key } = manager;
        const whole = { name: 'Reactor', code: ECHO, configuration: {} };
        const put = (body: object) => contract.request('PUT', `/reactors/${id}`, { key, body: { ...whole, ...body } });
        expect((await put(fits)).status).to.equal(200);
        expectRefused(await put(exceeds), path);
        const patch = (body: object) => contract.request('PATCH', `/reactors/${id}`, { key, body });
        expect((await patch(fits)).status).to.equal(204);
        expectRefused(await patch(exceeds), path);
        expect((await declare(fits)).status).to.equal(200);
        expectRefused(await declare(exceeds), path);
      });
    }

    it('is all of that at once, in characters of four bytes, and runs; one more is refused by its name', async () => {
      const fits = { name: EMOJI.repeat(200), code: longest, configuration: textsOf(25, EMOJI.repeat(10_000)) };
      const head =
        'module.exports = async ({ configuration }) => ({ raw: Object.values(configuration).join("").length });//';
      const code = head + EMOJI.repeat(50_000 - head.length);
      const exceeds = { ...fits, configuration: { ...fits.configuration, N24: EMOJI.repeat(10_001) } };
      const id = created(await create(fits));
      expectRefused(await create(exceeds), 'configuration.N24');
      const { key } = manager;
      expect((await contract.request('PUT', `/reactors/${id}`, { key, body: { ...fits, code } })).status).to.equal(200);
      expect((await react(id, {})).body).to.deep.equal({ raw: 2 * 250_000 });
      expectRefused(await contract.request('PUT', `/reactors/${id}`, { key, body: exceeds }), 'configuration.N24');
      expect((await contract.request('PATCH', `/reactors/${id}`, { key, body: fits })).status).to.equal(204);
      expectRefused(await contract.request('PATCH', `/reactors/${id}`, { key, body: exceeds }), 'configuration.N24');
      expect((await react(await declared({ ...fits, code }), {})).body).to.deep.equal({ raw: 2 * 250_000 });
      expectRefused(await declare(exceeds), 'configuration.N24');
    });

    it('may be written in ASCII, three times as long', async () => {
      const fits = { name: 'ASCII', code: longest, configuration: textsOf(25, EMOJI.repeat(10_000)) };
      const rawBody = JSON.stringify(fits).replaceAll(EMOJI, String.raw`\ud83d\ude00`);
      expect(rawBody.length).to.be.above(3_000_000);
      created(await contract.request('POST', '/reactors', { key: manager.key, rawBody }));
      const { status, body } = await contract.request('POST', '/reactors', {
        ...{ key: manager.key, rawBody: rawBody + ' '.repeat(4 * MEBIBYTE) },
      });
      expect([status, body.detail]).to.deep.equal([413, 'The body must not be larger than 4194304 bytes.']);
    });

    it('is code that runs at its full length', async () => {
      const id = created(await create({ code: longest }));
      expect((await react(id, { a: 1 })).body).to.deep.equal({ raw: { a: 1 } });
    });

    it('is no code that does not compile', async () => {
      expect((await create({ code: 'module.exports = async () => {' })).status).to.equal(422);
    });
  });

  describe('the payload of an invocation', () => {
    /** JSON text of `{[name]: …}` that is exactly so long, in bytes. */
    const filled = (rest: object, bytes: number, filler = 'x') => {
      const empty = Buffer.byteLength(JSON.stringify({ ...rest, fill: '' }));
      return { ...rest, fill: filler.repeat((bytes - empty) / Buffer.byteLength(filler)) };
    };

    it('is at most 1 MB as it is sent', async () => {
      const envelope = Buffer.byteLength(JSON.stringify({ args: {} })) - 2;
      const largest = filled({}, MEBIBYTE - envelope);
      const { status, body } = await react(echo, largest);
      expect(status).to.equal(200);
      expect(body.raw.fill).to.have.length(largest.fill.length);
      const { status: refused } = await react(echo, { fill: `${largest.fill}x` });
      expect(refused).to.equal(413);
    });

    it('is at most 1 MB once tokens are in their places, counted in bytes', async () => {
      const data = 'é'.repeat(200_000);
      const { body: token } = await vault.request('POST', '/tokens', { key: user.key, body: { type: 'token', data } });
      const { fill } = filled({ token: data }, MEBIBYTE);
      const named = `{{ ${token.id} }}`;
      const { status, body } = await react(echo, { token: named, fill });
      expect(status).to.equal(200);
      expect(Buffer.byteLength(JSON.stringify(body.raw))).to.equal(MEBIBYTE);
      const refused = await react(echo, { token: named, fill: `${fill}x` });
      expect(refused.status).to.equal(413);
      expect(refused.body.detail).to.equal('The arguments must not be larger than 1 MB once expressions are replaced.');
    });

    it('gives no larger result than 1 MB', async () => {
      const id = created(
        await create({ code: 'module.exports = async ({ args }) => ({ raw: "x".repeat(args.length) });' }),
      );
      expect((await react(id, { length: MEBIBYTE - 2 })).status).to.equal(200);
      const { status, body } = await react(id, { length: MEBIBYTE - 1 });
      expect([status, body.detail]).to.deep.equal([500, 'The result is larger than 1 MB.']);
    });
  });

  it('let one invocation use 100 tokens, however often each is named, and not 101', async () => {
    const values = Array.from({ length: 101 }, (_, index) => `value ${index}`);
    const { body } = await vault.request('POST', '/tokenize', { key: user.key, body: { values } });
    const named = (body.values as string[]).map((id) => `{{ ${id} }}`);
    const first = named.slice(0, 100);
    const { status, body: result } = await react(echo, { once: first, again: first });
    expect(status).to.equal(200);
    expect(result.raw).to.deep.equal({ once: values.slice(0, 100), again: values.slice(0, 100) });
    const refused = await react(echo, { all: named });
    expect(refused.status).to.equal(400);
    expect(refused.body.errors).to.deep.equal({ args: ['must not name more than 100 tokens'] });
  });

  it('let an output tokenize as much as the quota of the tenant has, and store nothing of a larger one', async () => {
    const id = created(await create({ code: TOKENIZE }));
    const values = (count: number, data: string) => Array.from({ length: count }, () => ({ deep: [data] }));
    const { status, body } = await react(id, { values: values(101, 'kept') });
    expect(status).to.equal(200);
    expect(body.tokens).to.have.length(101);
    const count = async () => (await vault.request('GET', '/tokens?size=1', { key: user.key })).body.pagination;
    const before = (await count()) as object;
    const refused = await react(id, { values: values(102, 'not kept') });
    expectRefused(refused, 'tokenize');
    expect(await count()).to.deep.equal(before);
  });

  it('answer 500 where raw has no form in JSON, and go on', async () => {
    const values = {
      'a BigInt': '{ deep: [10n] }',
      'a cycle': '(() => { const it = {}; it.it = it; return it; })()',
      'a function': '() => 1',
      'a symbol': 'Symbol("x")',
      'a toJSON that throws': '{ toJSON() { throw new Error("secret-4242"); } }',
    };
    const made = Object.entries(values).map(([what, value]) => `${JSON.stringify(what)}: () => (${value})`);
    const code = `const MADE = { ${made.join(', ')} }; module.exports = async ({ args }) => ({ raw: MADE[args.what]?.() ?? 1 });`;
    const id = created(await create({ code }));
    for (const what of Object.keys(values)) {
      const { status, body } = await react(id, { what });
      const title = 'The reactor returned something that is not a valid result.';
      expect([status, body.title], what).to.deep.equal([500, title]);
      expect(JSON.stringify(body)).not.to.include('4242');
      expect((await react(id, {})).body).to.deep.equal({ raw: 1 });
    }
  });

  describe('the time of a synchronous invocation', () => {
    for (const [what, body] of [
      ['waits for what never comes', 'await new Promise(() => {});'],
      ['computes without end', 'for (;;);'],
    ] as const) {
      it(`ends with 504 where the code ${what}, whatever the request asks for`, async () => {
        const code = `module.exports = async ({ args }) => { if (args.stay) { ${body} } return { raw: 'well' }; };`;
        const id = await declared({ code, timeoutSeconds: 1 });
        expect((await react(id, {})).body).to.deep.equal({ raw: 'well' });
        for (const more of [{}, { timeout: 30, timeout_seconds: 30, timeoutSeconds: 30, timeoutMs: 30_000 }]) {
          const begun = performance.now();
          const { status, body } = await react(id, { stay: true }, more);
          expect([status, body.title]).to.deep.equal([504, 'The reactor did not finish in time.']);
          expect(performance.now() - begun).to.be.within(1_000, 10_000);
        }
        expect((await react(id, {})).body).to.deep.equal({ raw: 'well' });
      });
    }

    it('is at most 30 seconds, for every reactor', async () => {
      expect((await declare({ timeoutSeconds: 30 })).status).to.equal(200);
      expectRefused(await declare({ timeoutSeconds: 31 }), 'timeoutSeconds');
      const { body } = await vault.internal('GET', '/reactors');
      const made = (body.data as { reactorId: string; timeoutSeconds: number }[]).find(
        ({ reactorId }) => reactorId === echo,
      );
      expect(made?.timeoutSeconds).to.equal(30);
    });
  });

  describe('calls at once', () => {
    const CLOCK = `module.exports = async ({ args }) => {
      const from = Date.now();
      await new Promise((resolve) => setTimeout(resolve, args.ms));
      return { raw: { from, to: Date.now() } };
    };`;

    /** The most that ran at any one time. */
    async function together(id: string, calls: number, ms: number): Promise<number> {
      const answers = await Promise.all(Array.from({ length: calls }, () => react(id, { ms })));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      const spans = answers.map(({ body }) => body.raw as { from: number; to: number });
      return Math.max(...spans.map(({ from }) => spans.filter((span) => span.from <= from && from < span.to).length));
    }

    const withScaling = (scaling: Partial<ReactorScaling>) =>
      declared({ code: CLOCK, scaling: { ...DEFAULT_SCALING, ...scaling } });

    it('run one by one in an instance, as long as there may be no other', async () => {
      expect(await together(await withScaling({ maxReplicas: 1 }), 4, 100)).to.equal(1);
    });

    it('start another instance of a reactor that says nothing of it', async () => {
      const id = created(await create({ code: CLOCK }));
      await eventually(async () => expect(await together(id, 2, 2_000)).to.equal(2), { deadlineMs: 30_000 });
    });

    it('run beside each other in one instance whose concurrency allows it, and no more of them', async () => {
      const id = await withScaling({ maxReplicas: 1, concurrency: 3 });
      expect((await react(id, { ms: 0 })).status).to.equal(200);
      expect(await together(id, 6, 500)).to.equal(3);
    });
  });
});

import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createStandaloneFolder, type StandaloneFolder } from '../../support/standalone-folder.ts';
import {
  runProgram,
  runStandalone,
  SAMPLES,
  startStandalone,
  type StandaloneProgram,
} from '../../support/standalone.ts';
import { openRequest } from '../../support/open-request.ts';

const run = promisify(execFile);

const SLOW_REACTOR = {
  kind: 'Reactor',
  name: 'slow',
  spec: { code: 'module.exports = (req) => new Promise((done) => setTimeout(() => done({ raw: req.args }), 1500));' },
};

describe('standalone', function () {
  this.timeout(60_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let coldStartMs: number;

  const start = (): Promise<StandaloneProgram> => startStandalone(folder);
  const status = () => runProgram(['status', '--data-dir', folder.dataDir]);
  const reactorId = async (name: string): Promise<string> => {
    const { body } = await vault.request('GET', `/reactors?name=${name}`, { key: await vault.keyOf('admin') });
    return body.data[0].id as string;
  };

  before(async () => {
    folder = await createStandaloneFolder(SAMPLES);
    await folder.write('slow.yaml', [SLOW_REACTOR]);
    const begin = Date.now();
    vault = await start();
    coldStartMs = Date.now() - begin;
  });
  after(async () => {
    await vault.stop();
    await folder.dispose();
  });

  it('is ready within 30 s on an empty folder, and says so once', async () => {
    expect(coldStartMs).to.be.below(30_000);
    expect(vault.output().stdout.match(/^ready .*$/gm)).to.deep.equal([`ready ${vault.baseUrl}`]);
    expect((await vault.request('GET', '/readyz')).status).to.equal(200);
  });

  it('has every declared resource Ready when it says that it is ready', async () => {
    const { code, stdout } = await status();
    expect(code, stdout).to.equal(0);
    for (const name of ['tenant.tokenkeep.dev/default', 'application.tokenkeep.dev/collector', 'card-brand', 'slow']) {
      expect(stdout).to.include(name);
    }
  });

  it('prints requests to try that work as they are', async () => {
    const lines = vault.output().stdout.match(/^ {2}curl .*$/gm) ?? [];
    expect(lines).to.have.length(3);
    const answers: unknown[] = [];
    for (const line of lines) {
      const { stdout } = await run('/bin/sh', ['-c', line]);
      answers.push(JSON.parse(stdout).data.number);
    }
    expect(answers).to.deep.equal(['XXXXXXXXXXXX4242', 'XXXXXXXXXXXX4242', '4242424242424242']);
  });

  it('shows one card redacted, masked and revealed to three applications, and runs a reactor on it', async () => {
    const data = { number: '4111111111111111', expiration_month: 12, expiration_year: 2030, cvc: '123' };
    const body = { id: 'story-card', type: 'card', data };
    const created = await vault.request('POST', '/tokens', { key: await vault.keyOf('collector'), body });
    expect(created.status).to.equal(201);

    const shownTo = async (application: string) =>
      (await vault.request('GET', '/tokens/story-card', { key: await vault.keyOf(application) })).body;
    const masked = { number: 'XXXXXXXXXXXX1111', expiration_month: 12, expiration_year: 2030 };
    expect(await shownTo('auditor'))
      .to.include({ id: 'story-card' })
      .and.not.have.property('data');
    expect(await shownTo('support'))
      .to.have.property('data')
      .that.deep.equals(masked);
    expect(await shownTo('payments'))
      .to.have.property('data')
      .that.deep.equals(data);
    expect(await shownTo('collector')).to.include({ status: 403 });

    const reaction = await vault.request('POST', `/reactors/${await reactorId('Card brand')}/react`, {
      key: await vault.keyOf('payments'),
      body: { args: { card: '{{ story-card }}' } },
    });
    expect(reaction.status).to.equal(200);
    expect(reaction.body.raw).to.deep.equal({ brand: 'visa', last4: '1111' });
    const receipt = await vault.request('GET', `/tokens/${reaction.body.tokens.receipt}`, {
      key: await vault.keyOf('payments'),
    });
    expect(receipt.body.data).to.equal('Paid with visa ending in 1111');
  });

  it('describes itself on the ports that it names', async () => {
    expect((await vault.request('GET', '/healthz')).status).to.equal(200);
    expect((await vault.request('GET', '/openapi.json')).body.openapi).to.match(/^3\./);
    expect((await vault.request('GET', '/docs')).body).to.include('<html');
    expect(await (await fetch(vault.metricsUrl)).text()).to.include('# HELP');
    expect((await vault.request('GET', '/metrics')).status).to.equal(404);
  });

  it('lets nobody else look into its data folder', async () => {
    expect((await stat(folder.dataDir)).mode & 0o066).to.equal(0);
    for (const file of ['keyring.json', 'status.json', 'postgres.log', 'secrets/default/admin-api-key/api-key']) {
      expect((await stat(join(folder.dataDir, file))).mode & 0o077, file).to.equal(0);
    }
  });

  it('refuses a second copy on the same data folder, and goes on', async () => {
    const second = await runStandalone(folder);
    expect(second.code).to.equal(1);
    expect(second.stderr).to.include(`${folder.dataDir} is in use by process ${vault.pid}`);
    expect(second.stdout).not.to.include('ready');
    expect((await vault.request('GET', '/readyz')).status).to.equal(200);
  });

  it('answers what is in flight when it is told to stop, and exits 0 within 10 s', async () => {
    const key = await vault.keyOf('payments');
    const invocation = vault.request('POST', `/reactors/${await reactorId('slow')}/react`, {
      key,
      body: { args: { in: 'flight' } },
    });
    const creation = await openRequest(`${vault.baseUrl}/tokens`, key, {
      id: 'in-flight',
      type: 'token',
      data: 'kept',
    });
    const stopping = vault.stop();
    const created = await creation.finish();
    const reacted = await invocation;
    const { code, elapsedMs } = await stopping;
    vault = await start();
    expect(created).to.equal(201);
    expect([reacted.status, reacted.body]).to.deep.equal([200, { raw: { in: 'flight' } }]);
    expect(code).to.equal(0);
    expect(elapsedMs).to.be.below(10_000);
    expect((await vault.request('GET', '/tokens/in-flight', { key })).body.data).to.equal('kept');
  });

  it('finds tokens, keys and ids again at the next start', async () => {
    const key = await vault.keyOf('payments');
    const created = await vault.request('POST', '/tokens', { key, body: { type: 'token', data: { kept: true } } });
    const path = `/tokens/${created.body.id}`;
    const before = await vault.request('GET', path, { key });
    const applications = async () => {
      const { body } = await vault.request('GET', '/applications', { key: await vault.keyOf('admin') });
      return (body.data as { id: string; name: string }[]).map(({ id, name }) => `${name} ${id}`).sort();
    };
    const idsBefore = [await reactorId('slow'), ...(await applications())];

    expect((await vault.stop()).code).to.equal(0);
    vault = await start();

    expect(await vault.keyOf('payments')).to.equal(key);
    expect(await vault.request('GET', path, { key })).to.deep.equal(before);
    expect([await reactorId('slow'), ...(await applications())]).to.deep.equal(idsBefore);
    expect((await status()).code).to.equal(0);
  });
});

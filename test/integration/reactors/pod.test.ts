import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ReactorWorkload } from '../../../src/domain/declarations.ts';
import { CHECKER_SERVER_NAME, reactorServerName } from '../../../src/domain/reactor-certificates.ts';
import { CODE_REFUSED_EXIT } from '../../../src/domain/reactor-supervision.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { openServerCertificate, tlsFilesOf } from '../../../src/platform/server-certificate.ts';
import { confinement } from '../../../src/reactors/host/confinement.ts';
import { createTransport } from '../../../src/reactors/transport.ts';
import type { Transport } from '../../../src/reactors/transport.ts';
import { eventually } from '../../support/eventually.ts';
import { expectDocumented } from '../../support/metrics/documented.ts';
import { requirePromtool } from '../../support/metrics/promtool.ts';
import { descendantsOf } from '../../support/processes.ts';
import { spawnProgram } from '../../support/program.ts';
import type { Spawned } from '../../support/program.ts';
import { createTestCredentials } from '../../support/reactors/credentials.ts';
import type { TestCredentials } from '../../support/reactors/credentials.ts';
import { workloadOf } from '../../support/reactors.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const SECRET = 'plain-4242424242424242';

describe('tokenkeep reactor as the process of a pod', function () {
  this.timeout(60_000);
  let folder: string;
  let credentials: TestCredentials;
  let transport: Transport;
  let terminationLog: string;
  const close: (() => void)[] = [];

  async function flagsFor(
    workload: ReactorWorkload,
    text: string | Buffer = JSON.stringify(workload),
  ): Promise<string[]> {
    const file = join(folder, `${workload.reactorId}.json`);
    await writeFile(file, text);
    return ['reactor', `--workload-file=${file}`, ...(await commonFlags(workload))];
  }

  async function commonFlags(reactor: { tenantId: string; reactorId: string }): Promise<string[]> {
    const tls = await credentials.server(`tls-${reactor.reactorId}`, reactor);
    const ports = ['--host=127.0.0.1', '--port=0', '--health-port=0'];
    return [`--tls-dir=${tls}`, ...ports, `--termination-log=${terminationLog}`];
  }

  /** What it says it listens on. */
  const found = ({ output }: Spawned, message: string): Record<string, string> => {
    const line = output.stdout.split('\n').find((text) => text.includes(`"${message}"`));
    if (line === undefined) throw new Error(`no ${message} in ${output.stdout}${output.stderr}`);
    return JSON.parse(line) as Record<string, string>;
  };
  const listening = (program: Spawned) =>
    eventually(() => found(program, 'Instance listens')['address']!, { deadlineMs: 20_000 });
  const healthUrl = (program: Spawned): string => `http://127.0.0.1:${found(program, 'Health is served')['port']}`;
  const readiness = async (program: Spawned): Promise<number> => (await fetch(`${healthUrl(program)}/readyz`)).status;

  function call(address: string, { tenantId, reactorId, revision }: ReactorWorkload, args = {}) {
    const instance = { address, credential: '', revision, serverName: reactorServerName(tenantId, reactorId) };
    const invocation = { tenantId, reactorId, revision, args, traceId: 'trace', timeoutMs: 10_000 };
    return transport.invoke(instance, invocation, () => undefined);
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-pod-'));
    credentials = await createTestCredentials(folder);
    const identity = await openServerCertificate({
      ...tlsFilesOf(await credentials.client('api')),
      logger: silentLogger,
    });
    transport = createTransport({ identity });
    close.push(
      () => identity.close(),
      () => transport.close(),
    );
    terminationLog = join(folder, 'termination-log');
  });
  beforeEach(() => writeFile(terminationLog, ''));
  after(async () => {
    for (const each of close) each();
    await rm(folder, { recursive: true });
  });

  it('serves, and on SIGTERM is not ready, takes nothing on, and ends what runs', async () => {
    const workload = workloadOf(`module.exports = async ({ args }) => {
      await new Promise((resolve) => setTimeout(resolve, args.ms ?? 0));
      console.log('went on for', args.ms);
      return { raw: typeof process };
    };`);
    const program = spawnProgram(await flagsFor(workload), { CANARY: SECRET });
    const address = await listening(program);
    expect(found(program, 'Instance listens')).to.include({ confinement: confinement() });
    expect(await readiness(program)).to.equal(200);
    const returned = { refused: false, outcome: { kind: 'returned', raw: 'undefined' } };
    expect(await call(address, workload)).to.deep.equal(returned);
    for (const { pid } of descendantsOf(program.child.pid!)) {
      expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).to.equal('');
    }

    const running = call(address, workload, { ms: 1_000 });
    await eventually(async () => expect(await call(address, workload)).to.deep.equal({ refused: true }));
    program.child.kill('SIGTERM');
    await eventually(async () => expect(await readiness(program)).to.equal(503));
    expect(await running).to.deep.equal(returned);
    expect(await call(address, workload)).to.deep.equal({ refused: true });
    expect(await program.ended).to.equal(0);
    const printed = found(program, 'Reactor printed');
    expect(printed).to.include({ reactorId: workload.reactorId, traceId: 'trace' });
  });

  it('serves code and configuration that were packed because of their size', async () => {
    const workload = workloadOf('module.exports = ({ configuration }) => ({ raw: configuration.A.length });', {
      configuration: Object.fromEntries(Array.from('ABCDEFGHIJKLMNOPQRSTUVWXY', (name) => [name, 'é'.repeat(10_000)])),
    });
    const packed = gzipSync(JSON.stringify(workload));
    const program = spawnProgram(await flagsFor(workload, packed));
    const address = await listening(program);
    expect(await call(address, workload)).to.deep.equal({ refused: false, outcome: { kind: 'returned', raw: 10_000 } });
    program.child.kill('SIGKILL');
    await program.ended;
  });

  it('serves metrics of its invocations, which name no reactor', async function () {
    const promtool = requirePromtool(this);
    const workload = workloadOf(`module.exports = async ({ args }) => {
      if (args.hang) for (;;);
      return { raw: '${SECRET}' };
    };`);
    const program = spawnProgram(await flagsFor(workload));
    const address = await listening(program);
    await call(address, workload);
    await call(address, workload, { hang: true });
    const metrics = await eventually(async () => {
      const text = await (await fetch(`${healthUrl(program)}/metrics`)).text();
      expect(text).to.match(/^tokenkeep_instance_process_stops_total\{reason="timed-out"\} 1$/m);
      return text;
    });
    const counted = (outcome: string) =>
      new RegExp(`^tokenkeep_instance_invocation_duration_seconds_count\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(
        metrics,
      )?.[1];
    expect(counted('returned')).to.equal('1');
    expect(counted('timed-out')).to.equal('1');
    expect(metrics).to.match(/^tokenkeep_instance_invocations_in_flight 0$/m);
    expect(metrics).to.match(/^tokenkeep_certificate_expiry_timestamp_seconds\{certificate="instance"\} \d{10}$/m);
    for (const secret of [SECRET, workload.reactorId, workload.tenantId]) expect(metrics).not.to.include(secret);
    expect(await promtool.findingsOn(metrics)).to.equal('');
    await expectDocumented(metrics);
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
  });

  it('says why code was refused, to Kubernetes too, without a word of it', async () => {
    const workload = workloadOf(`const secret = '${SECRET}';\nmodule.exports = {`, { configuration: { SECRET } });
    const program = spawnProgram(await flagsFor(workload));
    expect(await program.ended).to.equal(CODE_REFUSED_EXIT);
    const message = await readFile(terminationLog, 'utf8');
    expect(message).to.match(/syntax error/);
    expect(message + program.output.stdout + program.output.stderr).not.to.include(SECRET);
  });

  it('says what is wrong with its files, without a word of them', async () => {
    const wrong: [string | Buffer, RegExp][] = [
      [`{"code": "${SECRET}`, /does not hold JSON/],
      [JSON.stringify({ code: SECRET, configuration: { SECRET } }), /does not hold a reactor/],
      [gzipSync(SECRET).subarray(0, 12), /does not hold JSON/],
    ];
    for (const [text, expected] of wrong) {
      const program = spawnProgram(await flagsFor(workloadOf(''), text));
      expect(await program.ended).to.equal(1);
      const message = await readFile(terminationLog, 'utf8');
      expect(message).to.match(expected);
      expect(message + program.output.stdout + program.output.stderr).not.to.include(SECRET);
    }
  });

  it('checks code of anybody', async () => {
    const at = await credentials.server('checker', { tenantId: '', reactorId: '' }, { name: CHECKER_SERVER_NAME });
    const rest = ['--host=127.0.0.1', '--port=0', '--health-port=0', `--termination-log=${terminationLog}`];
    const program = spawnProgram(['reactor', '--check', `--tls-dir=${at}`, ...rest]);
    const checker = {
      ...{ address: await listening(program), credential: '', revision: '' },
      serverName: CHECKER_SERVER_NAME,
    };
    const right = await transport.check(checker, 'module.exports = async () => ({})', 10_000);
    expect(right).to.deep.equal({ refused: false, outcome: { ok: true } });
    const faulty = await transport.check(checker, 'module.exports = 1', 10_000);
    expect(faulty).to.have.nested.property('outcome.kind', 'not-a-function');
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
  });

  it('is ended by SIGTERM as the first process of its namespace, which no signal ends by itself', async function () {
    const flags = ['--pid', '--fork', '--kill-child', '--mount-proc'];
    const probe = spawn('unshare', [...flags, 'true'], { stdio: 'ignore' });
    const [code] = (await Promise.race([once(probe, 'exit'), once(probe, 'error')])) as [unknown];
    // Where this user may not make namespaces.
    if (code !== 0) return this.skip();
    const workload = workloadOf('module.exports = () => { for (;;); };', { timeoutSeconds: 1 });
    const program = spawnInNamespace(flags, await flagsFor(workload));
    try {
      const attempt = await call(await listening(program), workload);
      expect(attempt).to.deep.equal({ refused: false, outcome: { kind: 'timed-out' } });
      process.kill(descendantsOf(program.child.pid!)[0]!.pid, 'SIGTERM');
      expect(await program.ended).to.equal(0);
    } finally {
      program.child.kill('SIGKILL');
    }
  });
});

function spawnInNamespace(flags: readonly string[], args: readonly string[]): Spawned {
  const child = spawn('unshare', [...flags, process.execPath, '--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return { child, output, ended: once(child, 'close').then(([code]) => code as number | null) };
}

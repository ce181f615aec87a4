import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** What a link does to what passes it; see the README of toxiproxy. Times in ms, rates in KB/s, sizes in bytes. */
export type Toxic = (
  | { type: 'latency'; attributes: { latency: number; jitter?: number } }
  | { type: 'bandwidth'; attributes: { rate: number } }
  /** Passes nothing; closes the connection after `timeout`, never where it is 0. */
  | { type: 'timeout'; attributes: { timeout: number } }
  /** Ends connections with a reset. */
  | { type: 'reset_peer'; attributes: { timeout: number } }
  /** Cuts what passes in pieces, with a pause of `delay` microseconds after each. */
  | { type: 'slicer'; attributes: { average_size: number; size_variation: number; delay: number } }
) & { stream?: 'upstream' | 'downstream' };

/** A way through toxiproxy to one server. */
export interface Link {
  readonly host: string;
  readonly port: number;
  /** From now on, also over connections that are open. */
  spoil(...toxics: Toxic[]): Promise<void>;
  /** Refuses connections, and closes those that are open. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

export interface Toxiproxy {
  /** `upstream` is `host:port`. */
  link(upstream: string): Promise<Link>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

export async function startToxiproxy(program: string): Promise<Toxiproxy> {
  const apiPort = await freePort();
  const server = spawn(program, ['-host', HOST, '-port', String(apiPort)], { stdio: 'ignore' });
  const exited = once(server, 'exit');
  let links = 0;

  async function call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`http://${HOST}:${apiPort}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`toxiproxy answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  async function link(upstream: string): Promise<Link> {
    const name = `link-${links++}`;
    const made = await call('POST', '/proxies', { name, upstream, listen: `${HOST}:0`, enabled: true });
    const port = Number((made as { listen: string }).listen.split(':').at(-1));
    const path = `/proxies/${name}`;
    return {
      ...{ host: HOST, port },
      async spoil(...toxics) {
        for (const toxic of toxics) await call('POST', `${path}/toxics`, { stream: 'downstream', ...toxic });
      },
      async cut() {
        await call('POST', path, { enabled: false });
      },
      async heal() {
        const { toxics } = (await call('GET', path)) as { toxics: { name: string }[] };
        for (const toxic of toxics) await call('DELETE', `${path}/toxics/${toxic.name}`);
        await call('POST', path, { enabled: true });
      },
    };
  }

  await eventually(() => call('GET', '/proxies'));
  return {
    link,
    async stop() {
      server.kill('SIGKILL');
      await exited;
    },
  };
}

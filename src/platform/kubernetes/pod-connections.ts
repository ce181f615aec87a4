import { Agent } from 'node:http';
import { Duplex, PassThrough, Writable } from 'node:stream';
import { PortForward } from '@kubernetes/client-node';
import type { KubeConfig } from '@kubernetes/client-node';

export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** As much of the library's WebSockets as is used here; their types are of a package that it does not bring. */
export interface PodSocket {
  onclose: (() => void) | null;
  close(): void;
}

/** A connection to a port of a pod did not come about, or broke. */
export class PodConnectionError extends Error {
  override readonly name = 'PodConnectionError';
}

/**
 * HTTP to a port of a pod by way of the API server, without a port on this machine that its other users could call.
 * Each request has a connection of its own. They fail with a PodConnectionError.
 */
export function createPodAgent(kubeConfig: KubeConfig, at: PodPort): Agent {
  return new PodAgent(kubeConfig, at);
}

class PodAgent extends Agent {
  readonly #kubeConfig: KubeConfig;
  readonly #at: PodPort;

  constructor(kubeConfig: KubeConfig, at: PodPort) {
    super({ keepAlive: false });
    this.#kubeConfig = kubeConfig;
    this.#at = at;
  }

  override createConnection(_options: object, connected?: (error: Error | null, stream: Duplex) => void): undefined {
    connect(this.#kubeConfig, this.#at).then(
      (stream) => connected?.(null, stream),
      (error: unknown) => connected?.(error as Error, undefined as unknown as Duplex),
    );
  }
}

async function connect(kubeConfig: KubeConfig, { namespace, pod, port }: PodPort): Promise<Duplex> {
  const input = new PassThrough();
  const output = new PassThrough();
  const stream = Duplex.from({ readable: output, writable: input });
  const fault = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // What the node says begins empty, and is a sentence where nothing listens on the port.
      if (chunk.length > 0) stream.destroy(new PodConnectionError(`port ${port} of pod ${pod} does not answer`));
      done();
    },
  });
  try {
    const socket = (await new PortForward(kubeConfig).portForward(
      namespace,
      pod,
      [port],
      output,
      fault,
      input,
    )) as PodSocket;
    socket.onclose = () => void output.end();
    stream.once('close', () => socket.close());
    return stream;
  } catch {
    stream.on('error', () => undefined).destroy();
    // Without its cause: it holds the request, and with it credentials.
    throw new PodConnectionError(`the API server opened no connection to pod ${pod}`);
  }
}

import { PassThrough } from 'node:stream';
import { Exec } from '@kubernetes/client-node';
import type { KubeConfig, V1Status } from '@kubernetes/client-node';
import { PodConnectionError, type PodSocket } from './pod-connections.ts';

export interface PodCommand {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Program and arguments; no shell is there to read them. */
  readonly command: readonly string[];
}

/** Whatever the command writes, as it comes. */
export interface PodOutput {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/** Runs a command in a container. Resolves with its exit code; rejects with a PodConnectionError where it has none. */
export async function runInPod(kubeConfig: KubeConfig, at: PodCommand, output: PodOutput): Promise<number> {
  const [stdout, stderr] = [output.stdout, output.stderr].map((write) => {
    const stream = new PassThrough();
    stream.setEncoding('utf8').on('data', write);
    return { stream, ended: new Promise((resolve) => stream.once('close', resolve)) };
  }) as [Collected, Collected];
  const { promise, resolve, reject } = Promise.withResolvers<V1Status>();
  try {
    const { namespace, pod, container, command } = at;
    const exec = new Exec(kubeConfig);
    const streams = [stdout.stream, stderr.stream, null] as const;
    const socket = (await exec.exec(namespace, pod, container, [...command], ...streams, false, resolve)) as PodSocket;
    socket.onclose = () =>
      reject(new PodConnectionError(`the connection to pod ${pod} broke before its command ended`));
  } catch {
    // Without its cause: it holds the request, and with it credentials.
    throw new PodConnectionError(`the API server opened no connection to pod ${at.pod}`);
  }
  const status = await promise;
  await Promise.all([stdout.ended, stderr.ended]);
  return exitCodeOf(status, at);
}

interface Collected {
  readonly stream: PassThrough;
  readonly ended: Promise<unknown>;
}

function exitCodeOf({ status, details }: V1Status, { pod, command }: PodCommand): number {
  if (status === 'Success') return 0;
  const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code === undefined) throw new PodConnectionError(`pod ${pod} could not run ${command[0]}`);
  return Number(code);
}

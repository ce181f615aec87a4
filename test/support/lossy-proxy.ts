import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Stands before an HTTP server, sees what is asked, and can lose answers of what has been done. */
export interface LossyProxy {
  /** Origin. */
  readonly address: string;
  /** So far, the earliest first. */
  readonly passed: readonly PassedRequest[];
  /** The next `times` requests whose path ends so reach the server; their connections break before an answer. */
  loseAnswers(pathEnd: string, times: number): void;
  /** The next `times` requests whose path ends so are answered with this instead, and reach no server. */
  answerInstead(pathEnd: string, times: number, status: number, headers?: Record<string, string>): void;
  close(): Promise<void>;
}

type Plan = { readonly pathEnd: string; left: number; readonly status?: number; headers?: Record<string, string> };

export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const passed: PassedRequest[] = [];
  const plans: Plan[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    passed.push({ method, path, headers });
    const plan = plans.find(({ pathEnd, left }) => left > 0 && path.endsWith(pathEnd));
    if (plan !== undefined) plan.left--;
    if (plan?.status !== undefined) {
      incoming.resume();
      outgoing.writeHead(plan.status, plan.headers).end();
      return;
    }
    const upstream = request(`${target}${path}`, { method, headers }, (answer) => {
      if (plan === undefined) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      } else {
        answer.resume().on('end', () => incoming.socket.destroy());
      }
    });
    upstream.on('error', () => incoming.socket.destroy());
    incoming.pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    loseAnswers: (pathEnd, times) => void plans.push({ pathEnd, left: times }),
    answerInstead: (pathEnd, times, status, headers = {}) => void plans.push({ pathEnd, left: times, status, headers }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

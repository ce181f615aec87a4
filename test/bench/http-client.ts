import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Sends JSON over connections that stay open, as a backend would. */
export interface HttpClient {
  /** The parsed answer; rejects where its status is not the expected one. */
  send(method: string, path: string, options: { status: number; body?: object }): Promise<any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  close(): void;
}

export function createHttpClient(baseUrl: string, apiKey: string): HttpClient {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(baseUrl);
  return {
    async send(method, path, { status, body }) {
      const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers = {
        'SVC-API-KEY': apiKey,
        ...(payload === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': payload.length }),
      };
      const answer = await new Promise<string>((resolve, reject) => {
        const outgoing = request({ agent, hostname, port, method, path, headers }, (incoming) => {
          text(incoming).then((content) => {
            if (incoming.statusCode === status) resolve(content);
            else reject(new Error(`${method} ${path}: ${incoming.statusCode} ${content}`));
          }, reject);
        });
        outgoing.once('error', reject);
        outgoing.end(payload);
      });
      return JSON.parse(answer) as unknown;
    },
    close: () => agent.destroy(),
  };
}

import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** A POST whose body the server still waits for. */
export interface OpenRequest {
  /** Sends the rest; resolves with the status of the answer. */
  finish(): Promise<number>;
  /** The code of the error by which the connection ended; undefined where there was none. */
  readonly closed: Promise<string | undefined>;
}

/** Resolves once the server has taken the head of the request, and said so. */
export async function openRequest(url: string, key: string, body: object): Promise<OpenRequest> {
  const text = JSON.stringify(body);
  const client = request(url, {
    method: 'POST',
    headers: {
      'svc-api-key': key,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      expect: '100-continue',
    },
  });
  client.flushHeaders();
  await Promise.race([once(client, 'continue'), delay(5_000).then(() => Promise.reject(new Error('not continued')))]);
  client.write(text.slice(0, 10));
  const closed = new Promise<string | undefined>((resolve) => {
    client.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    client.once('close', () => resolve(undefined));
  });
  return {
    closed,
    async finish() {
      client.end(text.slice(10));
      const [response] = (await once(client, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode ?? 0;
    },
  };
}

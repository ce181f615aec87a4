import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const REFUSALS: Readonly<Record<string, { status: number; detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The request line and the headers are larger than 16 KiB together.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request was sent too slowly.' },
};
const MALFORMED = { status: 400, detail: 'The request is not HTTP/1.1.' };

/**
 * Answers a request that HTTP itself refuses, and which no listener ever sees, as a problem (RFC 9457), as everything
 * else that fails is answered. The connection ends with it: where the next request would begin is unknown.
 */
export function answerRefusedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const title = STATUS_CODES[status]!;
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

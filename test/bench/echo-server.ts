import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A bare server of a process's own: what HTTP itself costs. Ends with its parent. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  });
});
// Between two of its turns it must not close connections: the loader might be sending on one.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());

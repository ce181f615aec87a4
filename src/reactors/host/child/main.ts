/**
 * The process that holds the isolate, and nothing else worth having: no environment, no files, no network in use, no
 * credential. It speaks with the supervisor over its standard streams, and ends when they do.
 */
import type { FromChild, ToChild } from '../../protocol.ts';
import { loadReactor } from './reactor.ts';
import type { LoadedReactor } from './reactor.ts';

let reactor: LoadedReactor | undefined;
let pending = '';

function send(message: FromChild): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/**
 * process.exit() waits for threads, and one of them may be in an endless loop of the guest's. A signal that it sends
 * itself does not end the first process of a namespace, which this may be.
 */
function end(): void {
  process.abort();
}

async function receive(message: ToChild): Promise<void> {
  if (message.type === 'load') reactor = await loadReactor({ ...message, send });
  else if (message.type === 'invoke') await reactor?.invoke(message.id, message.request, message.svc);
  else if (message.type === 'stop') reactor?.stop(message.id);
  else if (message.type === 'ping') send({ type: 'pong' });
  else reactor?.answer(message.id, message.call, message.payload);
}

process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (pending + chunk).split('\n');
  pending = lines.pop()!;
  for (const line of lines) receive(JSON.parse(line) as ToChild).catch(end);
});
process.stdin.on('end', end);
process.stdin.on('error', end);

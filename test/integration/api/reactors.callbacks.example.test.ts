import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { generateWebhookSecret, webhookHeaders } from '../../../src/domain/webhook-signature.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

describe('the receiver of docs/callbacks.md', () => {
  const secret = generateWebhookSecret();
  let receiver: ChildProcess;
  let url: string;
  let printed = '';

  before(async () => {
    const page = await readFile(`${ROOT}/docs/callbacks.md`, 'utf8');
    const [, code] = /^```js\n(.*?)^```$/ms.exec(page)!;
    const port = String(await freePort());
    receiver = spawn(process.execPath, ['--input-type=module', '-e', code!], {
      ...{ cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
      env: { WEBHOOK_SECRET: secret, PORT: port },
    });
    receiver.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    url = `http://127.0.0.1:${port}/`;
    await eventually(() => fetch(url));
  });
  after(async () => {
    receiver.kill();
    await once(receiver, 'close');
  });

  async function send(id: string, signedWith = secret, sentAt = Date.now()): Promise<number> {
    const body = JSON.stringify({ type: 'reactor.completed', data: { request_id: id, status: 200 } });
    const headers = webhookHeaders({ id, sentAt, body }, [signedWith]);
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  it('acts once for each delivery, and on none that is forged or old', async () => {
    expect([await send('one'), await send('two'), await send('one')]).to.deep.equal([204, 204, 204]);
    expect(await send('forged', generateWebhookSecret())).to.equal(400);
    expect(await send('old', secret, Date.now() - 600_000)).to.equal(400);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).to.equal(400);
    expect(printed).to.equal('reactor.completed one 200\nreactor.completed two 200\n');
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { requireToxiproxy } from '../../support/toxiproxy-program.ts';
import { startToxiproxy, type Link, type Toxiproxy } from '../../support/toxiproxy.ts';

describe('a link through toxiproxy', () => {
  let toxiproxy: Toxiproxy | undefined;
  let server: Server | undefined;
  let link: Link;

  const get = async (timeoutMs = 5_000): Promise<string> => {
    const response = await fetch(`http://${link.host}:${link.port}/`, { signal: AbortSignal.timeout(timeoutMs) });
    return response.text();
  };
  const failure = async (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => expect.fail('nothing failed'),
      (error: Error) => error,
    );

  before(async function () {
    toxiproxy = await startToxiproxy(await requireToxiproxy(this));
    server = createServer((_, response) => void response.end('here')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    link = await toxiproxy.link(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  after(async () => {
    server?.closeAllConnections();
    server?.close();
    await toxiproxy?.stop();
  });
  afterEach(() => link.heal());

  it('passes on what is sent', async () => {
    expect(await get()).to.equal('here');
  });

  it('passes nothing where it is told to, and heals on the same port', async () => {
    await link.spoil({ type: 'timeout', attributes: { timeout: 0 } });
    expect((await failure(get(200))).name).to.equal('TimeoutError');
    await link.heal();
    expect(await get()).to.equal('here');
  });

  it('refuses connections while it is cut', async () => {
    await link.cut();
    expect((await failure(get())).cause).to.have.property('code', 'ECONNREFUSED');
    await link.heal();
    expect(await get()).to.equal('here');
  });
});

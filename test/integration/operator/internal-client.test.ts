import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ReactorDeclaration } from '../../../src/domain/declarations.ts';
import { createInternalClient, InternalApiError } from '../../../src/operator/internal-client.ts';
import type { InternalClient } from '../../../src/operator/internal-client.ts';
import { eventually } from '../../support/eventually.ts';

describe('the client of the internal API', () => {
  let server: Server;
  let client: InternalClient;
  /** Requests that are not answered yet, in order. */
  let open: { request: string; response: ServerResponse }[];

  beforeEach(async () => {
    open = [];
    server = createServer((request, response) => {
      open.push({ request: `${request.method} ${request.url}`, response });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = createInternalClient({ baseUrl, token: 'token', timeoutMs: 50, slowTimeoutMs: 20_000 });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const reactor: ReactorDeclaration = {
    name: 'slow',
    code: '',
    configuration: {},
    timeoutSeconds: 30,
    scaling: { minReplicas: 1, maxReplicas: 1, concurrency: 1, idleSeconds: 300 },
    memoryBytes: 2 ** 28,
  };
  const requests = () => open.map(({ request }) => request);
  const answer = (request: string) => {
    const [found] = open.splice(requests().indexOf(request), 1);
    found!.response.writeHead(200).end('{"changed":true}');
  };
  const putR = 'PUT /internal/tenants/t/reactors/r';
  const putOther = 'PUT /internal/tenants/t/reactors/other';
  const deleteT = 'DELETE /internal/tenants/t';

  it('gives up a call that is not answered in time', async () => {
    const error = await client.deleteApplication('t', 'a').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(InternalApiError).and.have.property('status', undefined);
  });

  it('waits longer for code to be checked and for a tenant to be emptied', async () => {
    const put = client.putReactor('t', 'r', reactor);
    const deletion = client.deleteTenant('t');
    await client.listDemand().catch(() => undefined);
    await eventually(() => expect(requests()).to.include.members([putR, deleteT]));
    answer(putR);
    answer(deleteT);
    expect(await put).to.deep.equal({ changed: true });
    await deletion;
  });

  it('asks again over another connection where a kept one was closed in that moment', async () => {
    const first = client.listDemand();
    await eventually(() => expect(requests()).to.have.length(1));
    answer('GET /internal/demand');
    await first;
    // It takes the connection that was kept, and is cut off.
    const second = client.putReactor('t', 'r', reactor);
    await eventually(() => expect(requests()).to.deep.equal([putR]));
    open.pop()!.response.socket?.resetAndDestroy();
    await eventually(() => expect(requests()).to.deep.equal([putR]));
    answer(putR);
    await second;
  });

  it('breaks off what is under way when it is closed', async () => {
    const put = client.putReactor('t', 'r', reactor);
    await eventually(() => expect(requests()).to.deep.equal([putR]));
    client.close();
    expect(await put.catch((error: unknown) => error)).to.be.instanceOf(InternalApiError);
  });

  it('has one call for an object under way at a time, beside those for others', async () => {
    const first = client.putReactor('t', 'r', reactor);
    const second = client.putReactor('t', 'r', { ...reactor, name: 'renamed' });
    const other = client.putReactor('t', 'other', reactor);
    await eventually(() => expect(requests()).to.have.members([putR, putOther]));
    answer(putR);
    await first;
    await eventually(() => expect(requests()).to.have.members([putR, putOther]));
    answer(putR);
    answer(putOther);
    await Promise.all([second, other]);
  });
});

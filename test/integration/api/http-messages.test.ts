import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { startTestVault, type TestVault } from '../../support/vault.ts';

describe('HTTP messages', () => {
  let vault: TestVault;
  let key: string;

  before(async () => {
    vault = await startTestVault();
    ({ key } = await vault.application());
  });
  after(() => vault.stop());

  /** Sends these bytes on a connection of their own; gives the statuses of all answers on it. */
  async function statusesOf(...lines: string[]): Promise<number[]> {
    const { hostname, port } = new URL(vault.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(lines.join('\r\n'));
    const answers = await text(socket);
    return [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  }

  const post = (...headers: string[]) => [
    ...['POST /tokens HTTP/1.1', 'Host: vault', `SVC-API-KEY: ${key}`, 'Content-Type: application/json'],
    ...headers,
  ];
  const BODY = '{"type":"token","data":"x"}';
  const SMUGGLED = ['GET /healthz HTTP/1.1', 'Host: vault', 'Connection: close', '', ''];

  it('are taken with one length, and what follows is another request', async () => {
    const sound = post(`Content-Length: ${BODY.length}`, '', `${BODY}${SMUGGLED[0]}`);
    expect(await statusesOf(...sound, ...SMUGGLED.slice(1))).to.deep.equal([201, 200]);
  });

  for (const [what, headers] of Object.entries({
    'a length beside chunks': ['Transfer-Encoding: chunked', `Content-Length: ${BODY.length}`],
    'two lengths': [`Content-Length: ${BODY.length}`, 'Content-Length: 3'],
    'a length with a sign': [`Content-Length: +${BODY.length}`],
    'chunks that are not the last encoding': ['Transfer-Encoding: chunked, identity'],
    'a folded header': ['X-Folded: a', ` Content-Length: 3`, `Content-Length: ${BODY.length}`],
    'a space before the colon': [`Content-Length : ${BODY.length}`],
  })) {
    it(`are refused, with all that follows, where they have ${what}`, async () => {
      expect(await statusesOf(...post(...headers, '', BODY + SMUGGLED[0]), ...SMUGGLED.slice(1))).to.deep.equal([400]);
    });
  }

  it('are not sent back: TRACE is refused', async () => {
    const trace = ['TRACE /tokens HTTP/1.1', 'Host: vault', `SVC-API-KEY: ${key}`, 'Connection: close', '', ''];
    expect(await statusesOf(...trace)).to.deep.equal([405]);
  });

  it('bring their key in a header: in the address it is none', async () => {
    for (const name of ['SVC-API-KEY', 'svc-api-key', 'api_key', 'key']) {
      expect((await vault.request('GET', `/tokens?${name}=${key}`)).status, name).to.equal(401);
    }
    const { hostname, port } = new URL(vault.baseUrl);
    const basic = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
    const answer = await fetch(`http://${hostname}:${port}/tokens`, { headers: basic });
    expect(answer.status).to.equal(401);
  });

  it('say what they are', async () => {
    for (const [path, type] of [
      ['/tokens', 'application/json'],
      ['/tokens/unknown', 'application/problem+json'],
      ['/docs', 'text/html; charset=utf-8'],
      ['/openapi.json', 'application/json; charset=utf-8'],
    ] as const) {
      expect((await vault.request('GET', path, { key })).headers.get('content-type'), path).to.equal(type);
    }
  });
});

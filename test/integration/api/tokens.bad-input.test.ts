import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { startTestVault, type Answer, type TestApplication, type TestVault } from '../../support/vault.ts';

const SECRET = '4242424242424241';
const MEGABYTE = 1024 * 1024;

/**
 * Sent as text: JSON.stringify would not write some of these. `field` is the deepest one that the API names in a token:
 * names below it are the caller's own, and a number may be among them.
 */
const HOSTILE: [name: string, json: string, field: string][] = [
  ['__proto__ at the top', `{"type":"token","data":"${SECRET}","__proto__":{"type":"card"}}`, ''],
  ['__proto__ in data', `{"type":"token","data":{"__proto__":{"a":"${SECRET}"}}}`, 'data'],
  ['__proto__ in a member', `{"type":"token","data":{"${SECRET}":{"__proto__":1}}}`, 'data'],
  ['__proto__ in metadata', `{"type":"token","data":"${SECRET}","metadata":{"__proto__":"x"}}`, 'metadata.__proto__'],
  ['__proto__ in an unknown member', `{"type":"token","data":"x","${SECRET}":{"__proto__":"x"}}`, ''],
  ['constructor.prototype', `{"type":"token","data":{"constructor":{"prototype":{"a":"${SECRET}"}}}}`, 'data'],
  ['constructor at the top', `{"constructor":{"prototype":{}},"type":"token","data":"${SECRET}"}`, ''],
  ['NUL in data', `{"type":"token","data":{"a":["${SECRET}\\u0000"]}}`, 'data'],
  ['NUL in an id', `{"type":"token","data":"${SECRET}","id":"a\\u0000bc"}`, 'id'],
  ['NUL in a member name', `{"type":"token","data":{"${SECRET}\\u0000b":"${SECRET}"}}`, 'data'],
  ['a lone surrogate', `{"type":"token","data":"${SECRET}\\ud800"}`, 'data'],
  ['nesting beyond 100', `{"type":"token","data":${'['.repeat(100)}"${SECRET}"${']'.repeat(100)}}`, 'data'],
  ['nesting without end', `{"type":"token","data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'data'],
  ['an integer that would change', `{"type":"token","data":${SECRET}000}`, 'data'],
  ['a number that would become null', '{"type":"token","data":{"n":1e999}}', 'data'],
];

const WRONG: [name: string, json: string, errors: string[]][] = [
  ['no members', '{}', ['type', 'data']],
  ['a list', `["${SECRET}"]`, ['']],
  ['a text', `"${SECRET}"`, ['']],
  ['null', 'null', ['']],
  [
    'wrong types',
    `{"type":5,"data":"${SECRET}","id":5,"containers":"x","metadata":[],"search_indexes":"x"}`,
    ['type', 'id', 'containers', 'metadata', 'search_indexes'],
  ],
  [
    'wrong types of elements',
    `{"type":"token","data":"${SECRET}","containers":[1],"search_indexes":[{}],"metadata":{"a":{}}}`,
    ['containers[0]', 'search_indexes[0]', 'metadata.a'],
  ],
  [
    'an 18-digit account',
    '{"type":"bank","data":{"routing_number":"021000021","account_number":"123456789012345678"}}',
    ['data.account_number'],
  ],
];

const MALFORMED: [name: string, body: string | Buffer][] = [
  ['nothing', ''],
  ['an unfinished object', `{"type":"token","data":"${SECRET}"`],
  ['a bare word', SECRET + 'x'],
  ['two values', `{"type":"token","data":"${SECRET}"} {}`],
  ['bytes that are not UTF-8', Buffer.from([...Buffer.from(`{"type":"token","data":"${SECRET}`), 0xff, 0x22, 0x7d])],
  ['a comment', `{"type":"token",/* */"data":"${SECRET}"}`],
];

describe('bad input to token endpoints', () => {
  let vault: TestVault;
  let application: TestApplication;
  const post = (rawBody: string | Buffer, headers: Record<string, string> = {}, path = '/tokens') =>
    vault.request('POST', path, {
      key: application.key,
      rawBody,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const refused = (answer: Answer, status: number) => {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
    expect(answer.headers.get('content-type')).to.contain('application/problem+json');
    expect(answer.body).to.include.all.keys('type', 'title', 'status', 'detail', 'instance');
    expect(JSON.stringify(answer.body)).not.to.contain(SECRET.slice(0, 12));
  };

  before(async () => {
    vault = await startTestVault();
    application = await vault.application();
  });
  after(() => vault.stop());
  afterEach(async () => {
    for (const table of ['tokens', "logs where actor_type = 'application'"]) {
      expect(await vault.database.run({ text: `select from ${table}` }), `rows in ${table}`).to.have.length(0);
    }
  });

  for (const path of ['/tokens', '/tokenize', '/detokenize']) {
    for (const [name, json, field] of HOSTILE) {
      it(`is 400 for ${name} at ${path}`, async () => {
        const answer = await post(json, {}, path);
        refused(answer, 400);
        // A payload's own members are not named by the API.
        expect(Object.keys(answer.body.errors)).to.deep.equal([path === '/tokens' ? field : '']);
      });
    }

    for (const [name, body] of MALFORMED) {
      it(`is 400 for ${name} at ${path}`, async () => refused(await post(body, {}, path), 400));
    }

    it(`is 413 for more than a megabyte at ${path}`, async () => {
      refused(await post(JSON.stringify({ type: 'token', data: SECRET.repeat(MEGABYTE / 16) }), {}, path), 413);
    });

    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/merge-patch+json',
      'application/jsonp',
      '',
    ]) {
      it(`is 415 for the content type ${JSON.stringify(type)} at ${path}`, async () => {
        refused(await post(JSON.stringify({ type: 'token', data: SECRET }), { 'content-type': type }, path), 415);
      });
    }

    for (const headers of [
      { 'content-encoding': 'gzip' },
      { 'content-type': 'application/json; charset=utf-16' },
    ] as Record<string, string>[]) {
      it(`is 415 with ${JSON.stringify(headers)} at ${path}`, async () => {
        refused(await post(JSON.stringify({ type: 'token', data: SECRET }), headers, path), 415);
      });
    }
  }

  for (const [name, json, errors] of WRONG) {
    it(`names every fault of ${name}`, async () => {
      const answer = await post(json);
      refused(answer, 400);
      expect(Object.keys(answer.body.errors)).to.have.members(errors);
    });
  }

  it('bounds what it says about very many faults', async () => {
    const answer = await post(JSON.stringify({ type: 'token', data: 'x', containers: Array(100_000).fill(1) }));
    refused(answer, 400);
    expect(JSON.stringify(answer.body).length).to.be.below(20_000);
  });

  it('does not read the body of a caller without a good key', async () => {
    for (const key of [undefined, 'junk', `${application.key}x`]) {
      const answer = await vault.request('POST', '/tokens', {
        ...(key === undefined ? {} : { key }),
        rawBody: '{"__proto__":',
        headers: { 'content-type': 'text/plain' },
      });
      refused(answer, 401);
      expect(answer.headers.get('www-authenticate')).to.equal('ApiKey');
      expect(answer.body).not.to.have.property('errors');
    }
  });

  it('answers a caller without a good key before the body has been sent', async () => {
    const url = new URL('/tokens', vault.baseUrl);
    const headers = { 'content-type': 'application/json', 'content-length': '1000' };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(url, { method: 'POST', headers }, (response) => {
        resolve(response.statusCode);
        request.destroy();
      });
      request.on('error', reject);
      request.write('{');
    });
    expect(status).to.equal(401);
  });

  it('answers a request whose Host header is malformed', async () => {
    const url = new URL('/v2/tokens', vault.baseUrl);
    const headers = { host: '[', 'svc-api-key': application.key };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(url, { headers }, (response) => resolve(response.resume().statusCode));
      request.on('error', reject);
      request.end();
    });
    expect(status).to.equal(200);
  });
});

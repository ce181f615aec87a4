import { expect } from 'chai';
import { createRequire } from 'node:module';
import { webcrypto } from 'node:crypto';
import type { Json } from '../../../src/domain/json.ts';
import type { DeployedReactor } from '../../support/reactors.ts';
import { useBodyRunner } from '../../support/reactors/use-body-runner.ts';

type Body = (require: NodeJS.Require) => Promise<Json>;
const AsyncFunction = (async () => undefined).constructor as new (...texts: string[]) => Body;
const nodeRequire = createRequire(import.meta.url);

const HELPERS = `const hex = (data) => Buffer.from(data).toString('hex');
  const bytes = (text) => new TextEncoder().encode(text);
  const nameOf = (promise) => Promise.resolve(promise).then(() => 'none', (error) => error.name);
  const thrown = (work) => { try { work(); return 'none' } catch (error) { return error.name } };
  const all = ['encrypt', 'decrypt'];`;

/** Each gives the same value in Node and in a reactor. */
const ALIKE: Record<string, string> = {
  'digests of crypto.subtle': `return Promise.all(['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512'].map(async (name) =>
    hex(await crypto.subtle.digest(name, bytes('abc')))))`,
  'HMAC keys': `const algorithm = { name: 'HMAC', hash: 'SHA-512' };
    const jwk = { kty: 'oct', k: 'c2VjcmV0', ext: true, key_ops: ['sign'] };
    const key = await crypto.subtle.importKey('jwk', jwk, algorithm, true, ['sign']);
    const made = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    return [hex(await crypto.subtle.sign('HMAC', key, bytes('x'))), hex(await crypto.subtle.exportKey('raw', key)),
      key.type, key.extractable, key.usages, key.algorithm.hash.name, key.algorithm.length,
      (await crypto.subtle.exportKey('raw', made)).byteLength,
      await nameOf(crypto.subtle.verify('HMAC', key, bytes('x'), bytes('x'))),
      await nameOf(crypto.subtle.importKey('raw', bytes('k'), algorithm, true, ['encrypt'])),
      await nameOf(crypto.subtle.importKey('raw', bytes('k'), algorithm, true, []))]`,
  'AES-GCM': `const key = await crypto.subtle.importKey('raw', new Uint8Array(32).fill(7), 'AES-GCM', false, all);
    const how = { name: 'AES-GCM', iv: new Uint8Array(12), additionalData: bytes('aad') };
    const sealed = await crypto.subtle.encrypt(how, key, bytes('plain'));
    const short = await crypto.subtle.encrypt({ ...how, tagLength: 96 }, key, bytes('plain'));
    return [hex(sealed), hex(short), hex(await crypto.subtle.decrypt(how, key, sealed)),
      hex(await crypto.subtle.decrypt(how, key, await crypto.subtle.encrypt(how, key, new Uint8Array(0)))),
      await nameOf(crypto.subtle.decrypt({ ...how, additionalData: bytes('other') }, key, sealed)),
      await nameOf(crypto.subtle.exportKey('raw', key)),
      await nameOf(crypto.subtle.importKey('raw', new Uint8Array(5), 'AES-GCM', false, all))]`,
  'AES-CBC': `const key = await crypto.subtle.importKey('raw', new Uint8Array(16).fill(7), { name: 'AES-CBC' }, true, all);
    const how = { name: 'AES-CBC', iv: new Uint8Array(16).fill(1) };
    const sealed = await crypto.subtle.encrypt(how, key, bytes('a longer plain text'));
    return [hex(sealed), hex(await crypto.subtle.decrypt(how, key, sealed)),
      await nameOf(crypto.subtle.decrypt(how, key, new Uint8Array(16)))]`,
  AbortController: `const controller = new AbortController(); const heard = [];
    controller.signal.addEventListener('abort', (event) => heard.push(event.type, event.target === controller.signal));
    controller.signal.onabort = () => heard.push('on');
    controller.abort(); controller.abort('again');
    const any = AbortSignal.any([new AbortController().signal, AbortSignal.abort('x')]);
    const timed = AbortSignal.timeout(5);
    await new Promise((resolve) => timed.addEventListener('abort', resolve));
    return [heard.sort(), controller.signal.reason.name, controller.signal.reason.code, any.reason, timed.reason.name,
      thrown(() => controller.signal.throwIfAborted()), await nameOf(fetch('https://a.example', { signal: controller.signal }))]`,
  Headers: `const headers = new Headers([['B', '1'], ['a', ' 2 '], ['b', '3']]);
    headers.append('Set-Cookie', 'x=1'); headers.append('set-cookie', 'y=2'); headers.delete('A');
    return [[...headers], headers.get('B'), headers.get('none'), headers.has('SET-COOKIE'), headers.getSetCookie(),
      thrown(() => new Headers({ 'a b': '1' })), thrown(() => headers.set('a', 'b\\r\\nc: d'))]`,
  'Request and Response': `const request = new Request('https://a.example/x#y', { method: 'put', body: new URLSearchParams({ a: 'ü' }) });
    const response = new Response(new Uint8Array([0x7b, 0x7d]), { status: 404, statusText: 'Gone' });
    const copy = response.clone();
    return [request.method, request.url, request.headers.get('content-type'), await request.text(), request.bodyUsed,
      response.ok, response.status, response.statusText, await response.json(), hex(await copy.arrayBuffer()),
      await nameOf(response.text()), (await Response.json({ a: 1 }).json()).a, Response.redirect('https://b.example').status,
      thrown(() => new Request('https://a.example', { body: 'x' })), thrown(() => new Request('https://u:p@a.example')),
      thrown(() => new Request('/relative')), thrown(() => new Response('', { status: 99 })), new Response(null).body,
      await nameOf(new Response('{').json())]`,
  'events of the platform': `const target = new EventTarget(); const heard = [];
    const listener = { handleEvent: (event) => heard.push(event.type) };
    target.addEventListener('a', listener); target.addEventListener('a', listener);
    target.addEventListener('b', () => heard.push('once'), { once: true });
    for (const type of ['a', 'b', 'b', 'c']) target.dispatchEvent(new Event(type));
    target.removeEventListener('a', listener);
    const event = new Event('d', { cancelable: true }); target.addEventListener('d', (e) => e.preventDefault());
    return [heard, target.dispatchEvent(event), event.defaultPrevented, new DOMException('m', 'AbortError').code]`,
};

describe('the web platform inside a reactor', function () {
  this.timeout(60_000);
  let runner: DeployedReactor;
  useBodyRunner((made) => (runner = made.runner));

  async function run(body: string): Promise<Json> {
    const outcome = await runner.invoke({
      body: `const raw = await (async () => {${HELPERS} ${body}})(); return { raw };`,
    });
    if (outcome.kind !== 'returned') throw new Error(JSON.stringify(outcome));
    return outcome.raw ?? null;
  }

  for (const [name, body] of Object.entries(ALIKE)) {
    it(`has ${name} as Node has`, async () => {
      const expected = await new AsyncFunction('require', HELPERS + body)(nodeRequire);
      expect(await run(body)).to.deep.equal(JSON.parse(JSON.stringify(expected)));
    });
  }

  const KEYS = {
    ECDSA: { generate: { name: 'ECDSA', namedCurve: 'P-256' }, sign: { name: 'ECDSA', hash: 'SHA-256' } },
    'ECDSA of P-521': { generate: { name: 'ECDSA', namedCurve: 'P-521' }, sign: { name: 'ECDSA', hash: 'SHA-512' } },
    'RSASSA-PKCS1-v1_5': { generate: { name: 'RSASSA-PKCS1-v1_5' }, sign: { name: 'RSASSA-PKCS1-v1_5' } },
    'RSA-PSS': { generate: { name: 'RSA-PSS' }, sign: { name: 'RSA-PSS', saltLength: 32 } },
  };
  const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  for (const [name, { generate, sign }] of Object.entries(KEYS)) {
    it(`signs and verifies with ${name} in both directions, with keys in each form`, async () => {
      const algorithm = { ...RSA, ...generate };
      const pair = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const exported = async (format: 'pkcs8' | 'spki', key: webcrypto.CryptoKey) =>
        Buffer.from(await webcrypto.subtle.exportKey(format, key)).toString('base64');
      const theirs = await webcrypto.subtle.sign(sign, pair.privateKey, Buffer.from('message'));
      const given = {
        pkcs8: await exported('pkcs8', pair.privateKey),
        spki: await exported('spki', pair.publicKey),
        jwk: await webcrypto.subtle.exportKey('jwk', pair.privateKey),
        ...{ algorithm: { ...generate, hash: 'SHA-256' }, sign, theirs: Buffer.from(theirs).toString('base64') },
      };
      const [verified, forged, signature, ofJwk, type, back] = (await run(`
        const given = ${JSON.stringify(given)}; const der = (text) => Buffer.from(text, 'base64');
        const { subtle } = crypto;
        const open = await subtle.importKey('spki', der(given.spki), given.algorithm, true, ['verify']);
        const secret = await subtle.importKey('pkcs8', der(given.pkcs8), given.algorithm, false, ['sign']);
        const { key_ops, ...jwk } = given.jwk;
        const other = await subtle.importKey('jwk', jwk, given.algorithm, false, ['sign']);
        const mine = (key) => subtle.sign(given.sign, key, bytes('message'));
        return [await subtle.verify(given.sign, open, der(given.theirs), bytes('message')),
          await subtle.verify(given.sign, open, der(given.theirs), bytes('another')), hex(await mine(secret)),
          await subtle.verify(given.sign, open, await mine(other), bytes('message')), secret.type,
          hex(await subtle.exportKey('spki', open)) === der(given.spki).toString('hex')]`)) as [
        boolean,
        boolean,
        string,
        boolean,
        string,
        boolean,
      ];
      expect({ verified, forged, ofJwk, type, back }).to.deep.equal({
        ...{ verified: true, forged: false, ofJwk: true, type: 'private', back: true },
      });
      const ours = Buffer.from(signature, 'hex');
      expect(await webcrypto.subtle.verify(sign, pair.publicKey, ours, Buffer.from('message'))).to.equal(true);
    });
  }

  it('decrypts what Node encrypted with RSA-OAEP', async () => {
    const algorithm = { name: 'RSA-OAEP', ...RSA };
    const pair = await webcrypto.subtle.generateKey(algorithm, true, ['encrypt', 'decrypt']);
    const label = Buffer.from('label');
    const sealed = await webcrypto.subtle.encrypt({ name: 'RSA-OAEP', label }, pair.publicKey, Buffer.from('plain'));
    const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
    const opened = await run(`const key = await crypto.subtle.importKey('pkcs8', Buffer.from('${key}', 'base64'),
        { name: 'RSA-OAEP', hash: 'SHA-256' }, false, ['decrypt']);
      const sealed = Buffer.from('${Buffer.from(sealed).toString('base64')}', 'base64');
      return [Buffer.from(await crypto.subtle.decrypt({ name: 'RSA-OAEP', label: bytes('label') }, key, sealed)).toString(),
        await nameOf(crypto.subtle.decrypt({ name: 'RSA-OAEP' }, key, sealed))]`);
    expect(opened).to.deep.equal(['plain', 'OperationError']);
  });

  for (const call of [
    `crypto.subtle.digest('MD5', bytes('x'))`,
    `crypto.subtle.importKey('raw', bytes('x'), 'PBKDF2', false, ['deriveBits'])`,
    `crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign'])`,
  ]) {
    it(`names what there is where ${call} asks for more`, async () => {
      const error = await run(`return ${call}.then(() => 'none', (error) => [error.name, error.message])`);
      expect(error).to.be.an('array').with.lengthOf(2);
      const [name, message] = error as [string, string];
      expect(name).to.equal('NotSupportedError');
      expect(message).to.match(/is not available\. Available: AES-CBC, AES-GCM, ECDSA, .*SHA-512$/);
    });
  }

  it('lets no key out of an object that only looks like one', async () => {
    const names = await run(`const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, all);
      const fake = Object.create(CryptoKey.prototype, { algorithm: { value: { name: 'AES-GCM' } }, usages: { value: all } });
      return [await nameOf(crypto.subtle.exportKey('raw', { ...key })), await nameOf(
        crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, fake, bytes('x')))]`);
    expect(names).to.deep.equal(['TypeError', 'TypeError']);
  });

  it('refuses calls of fetch beyond those that may be outstanding, and bodies over 1 MB', async () => {
    const refused = await run(`
      const calls = Array.from({ length: 30 }, () => fetch('https://a.invalid').catch((error) => error.message));
      return (await Promise.all(calls)).filter((message) => message === 'At most 20 calls may be outstanding').length`);
    // Some may have been answered before the last was made.
    expect(refused).to.be.within(1, 10);
    const large = await run(`return fetch('https://a.invalid', { method: 'POST', body: 'x'.repeat(2e6) })
      .catch((error) => [error.name, error.message])`);
    expect(large).to.deep.equal(['TypeError', 'The payload of the call is too large']);
  });
});

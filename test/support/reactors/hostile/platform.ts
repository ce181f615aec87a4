import { EXHAUSTED, STOPPED } from './types.ts';
import type { HostileReactor, OutcomeKind } from './types.ts';

const HELD: readonly OutcomeKind[] = [...EXHAUSTED, 'returned'];

/** Code that turns fetch, its clients, jsonpath and subtle against the host. No request of it may leave the machine. */
export const HOSTILE_BY_PLATFORM: readonly HostileReactor[] = [
  {
    name: 'a flood of fetches',
    body: `const all = []; for (let i = 0; i < 1000; i++) all.push(fetch('https://127.0.0.1/').catch((e) => e.name));
      return { raw: [...new Set(await Promise.all(all))] }`,
    kinds: HELD,
    raw: ['TypeError'],
  },
  {
    name: 'fetches one after another without end',
    body: `for (;;) await fetch('https://169.254.169.254/latest/meta-data').catch(() => {})`,
    kinds: STOPPED,
  },
  {
    name: 'bodies of a megabyte, a hundred at once',
    body: `const body = 'x'.repeat(2 ** 20 - 1); const all = [];
      for (let i = 0; i < 100; i++) all.push(fetch('https://127.0.0.1/', { method: 'POST', body }).catch((e) => e.name));
      return { raw: [...new Set(await Promise.all(all))] }`,
    kinds: HELD,
    raw: ['TypeError'],
  },
  {
    name: 'a header of fifty megabytes',
    body: `try { await fetch('https://127.0.0.1/', { headers: { a: 'x'.repeat(5e7) } }) } catch (e) { return { raw: 'refused' } }`,
    kinds: HELD,
    raw: 'refused',
  },
  {
    name: 'options of fetch whose getters loop',
    body: `await fetch('https://127.0.0.1/', { get method() { while (1); } })`,
    kinds: STOPPED,
  },
  {
    name: 'calls to the host by the iterators of a request',
    body: `Array.prototype[Symbol.iterator] = function* () { yield ['host', 'x'] };
      try { await fetch('https://127.0.0.1/', { headers: [['a', 'b']] }) } catch { return { raw: 'refused' } }`,
    kinds: HELD,
    raw: 'refused',
  },
  {
    name: 'interceptors of axios that never end',
    body: `const axios = require('axios'); axios.interceptors.request.use(() => new Promise(() => {})); await axios.get('https://127.0.0.1/')`,
    kinds: STOPPED,
  },
  {
    name: 'settings of axios by Object.prototype',
    body: `Object.prototype.baseURL = 'https://169.254.169.254'; Object.prototype.validateStatus = () => true;
      try { await require('axios').get('/latest') } catch { return { raw: 'refused' } }`,
    kinds: HELD,
    raw: 'refused',
  },
  {
    name: 'a bomb of jsonpath',
    body: `let deep = [1]; for (let i = 0; i < 22; i++) deep = [deep, deep, deep];
      return { raw: require('jsonpath').query(deep, '$..[*]..[*]..[*]').length }`,
    kinds: EXHAUSTED,
  },
  {
    name: 'subtle with an input of 100 MB',
    body: `await crypto.subtle.digest('SHA-512', new Uint8Array(1e8)); return { raw: 'hashed' }`,
    kinds: HELD,
    raw: 'hashed',
  },
  {
    name: 'a key of a huge length',
    body: `try { await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 2 ** 40 }, true, ['sign']) } catch { return { raw: 'refused' } }`,
    kinds: ['returned'],
    raw: 'refused',
  },
];

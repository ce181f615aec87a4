import { expect } from 'chai';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_SCALING } from '../../../src/domain/declarations.ts';
import { BODY_RUNNER, createReactorHarness, until } from '../../support/reactors.ts';
import type { ReactorHarness } from '../../support/reactors.ts';
import { childrenOf, memoryOf, MemoryWatch } from '../../support/reactors/process-memory.ts';

const INSTANCE_MB = 256;
const WALL_MS = 1_500;

/** Code that has the supervisor hold as much as it can, by calls that are allowed. */
const ATTACKS: readonly { name: string; body: string; atOnce?: number }[] = [
  {
    name: 'answers of a megabyte, twenty at a time, for ever',
    body: `const one = async () => { for (;;) await req.svc.tokens.retrieve('large').catch(() => {}) };
      await Promise.all(Array.from({ length: 20 }, one))`,
  },
  {
    name: 'payloads of a megabyte, twenty at a time, for ever',
    body: `const data = 'x'.repeat(2 ** 20 - 100);
      const one = async () => { for (;;) await req.svc.tokens.create({ data }).catch(() => {}) };
      await Promise.all(Array.from({ length: 20 }, one))`,
  },
  {
    name: 'payloads of a megabyte, left behind by one request after another',
    body: `const data = 'x'.repeat(2 ** 20 - 100);
      for (let i = 0; i < 16; i++) req.svc.tokens.create({ data }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20)); return { raw: 1 }`,
  },
  {
    name: 'lines on the console beside a megabyte of plaintext',
    body: `await req.svc.tokens.retrieve('telling').catch(() => {});
      for (let i = 0; i < 100; i++) console.log(req.args.secret.slice(i, i + 500)); return { raw: 1 }`,
  },
  {
    name: 'results of a megabyte, ten at a time',
    body: `return { raw: '"'.repeat(2 ** 19 - 100) }`,
    atOnce: 10,
  },
  {
    name: 'calls of a megabyte, of ten requests at a time',
    body: `const data = 'x'.repeat(2 ** 20 - 100);
      const one = async () => { for (;;) await req.svc.tokens.create({ data }).catch(() => {}) };
      await Promise.all(Array.from({ length: 20 }, one))`,
    atOnce: 10,
  },
];

describe('what code of a reactor has its supervisor hold', function () {
  this.timeout(120_000);
  let reactors: ReactorHarness;
  let api: Server;
  let baseUrl: string;

  before(async () => {
    reactors = createReactorHarness({ maxWaitMs: 60_000 });
    const large = JSON.stringify({ data: 'x'.repeat(2 ** 20 - 100) });
    const telling = JSON.stringify(Array.from({ length: 10_000 }, (_, index) => `secret ${index} `.padEnd(95, 'x')));
    api = createServer((request, response) => {
      request.resume().on('end', () => {
        if (request.url?.includes('telling')) response.end(telling);
        else response.end(large);
      });
    }).listen(0, '127.0.0.1');
    await until(() => api.listening);
    baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  });
  after(async () => {
    await reactors.stop();
    api.closeAllConnections();
    api.close();
  });

  for (const { name, body, atOnce = 1 } of ATTACKS) {
    it(`fits into the instance beside the code: ${name}`, async () => {
      const before = new Set(childrenOf(process.pid));
      const reactor = await reactors.deploy(BODY_RUNNER, {
        memoryBytes: INSTANCE_MB * 2 ** 20,
        scaling: { ...DEFAULT_SCALING, concurrency: atOnce },
      });
      const supervisor = childrenOf(process.pid).find((pid) => !before.has(pid))!;
      const watch = new MemoryWatch(supervisor);
      const args = { body, secret: 'secret'.repeat(160_000) };
      const options = { svc: { baseUrl, headerPrefix: 'SVC', key: 'key' }, timeoutMs: WALL_MS };
      const end = performance.now() + WALL_MS;
      const call = async (): Promise<void> => {
        do await reactor.invoke(args, options);
        while (performance.now() < end);
      };
      await Promise.all(Array.from({ length: atOnce }, call));
      watch.stop();
      expect(memoryOf(supervisor), 'the supervisor').not.to.equal(undefined);
      expect(watch.ownMb, 'MB of both').to.be.within(50, INSTANCE_MB);
    });
  }
});

import { expect } from 'chai';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { ReactorInstance } from '../../../src/domain/declarations.ts';
import { createReactorClient } from '../../../src/reactors/client.ts';
import type { ReactorClient } from '../../../src/reactors/client.ts';
import type { InvocationOutcome } from '../../../src/reactors/types.ts';
import { eventually } from '../../support/eventually.ts';
import { descendantsOf } from '../../support/processes.ts';
import type { ProcessIdentity } from '../../support/processes.ts';
import { createReactorHarness, stateOf } from '../../support/reactors.ts';
import type { DeployedReactor, ReactorHarness } from '../../support/reactors.ts';

/** Leaves its mark outside, and ends once that is answered. */
const MARKS = `module.exports = async ({ svc }) => { await svc.tokens.create({}); return { raw: 'done' } }`;

/** Between the client and an instance: what happens to a connection is told by its first bytes. */
interface Line {
  instance: ReactorInstance;
  /** Cuts everything that stands, at once. */
  cut(): void;
  /** From now on connections end as soon as a request comes in on them. */
  endOnRequest(): void;
  close(): void;
}

describe('code of a reactor that leaves a mark outside', function () {
  this.timeout(60_000);
  let reactors: ReactorHarness;
  let reactor: DeployedReactor;
  /** Sees the instances of a test alone, in their order: the first one is asked first. */
  let client: ReactorClient;
  let instances: ReactorInstance[];
  let marks: number;
  let answersMarks: boolean;
  let svc: { baseUrl: string; headerPrefix: string; key: string };
  const open: { close(): void }[] = [];

  beforeEach(async () => {
    marks = 0;
    answersMarks = false;
    const outside = createHttpServer((request, response) => {
      marks += 1;
      if (answersMarks) request.resume().on('end', () => response.end('{}'));
    });
    const port = await listening(outside);
    open.push({ close: () => (outside.closeAllConnections(), outside.close()) });
    svc = { baseUrl: `http://127.0.0.1:${port}`, headerPrefix: 'SVC', key: 'key' };
    reactors = createReactorHarness();
    reactor = await reactors.deploy(MARKS, {}, 2);
    instances = stateOf(reactors.runtime, reactor.workload)!.ready;
    client = createReactorClient({ maxWaitMs: 10_000 });
  });
  afterEach(async () => {
    for (const each of open.splice(0)) each.close();
    await client.stop();
    await reactors.stop();
  });

  function call(through: ReactorInstance[]): Promise<InvocationOutcome> {
    const { tenantId, reactorId, revision } = reactor.workload;
    client.instances.replace(tenantId, reactorId, through);
    return client.invoke({ tenantId, reactorId, revision, args: {}, traceId: 't', timeoutMs: 20_000, svc });
  }
  const marked = () => eventually(() => expect(marks).to.equal(1));

  async function openLine(instance: ReactorInstance): Promise<Line> {
    const sockets = new Set<Socket>();
    let ends = false;
    const server = createServer((socket) => {
      const onward = connect(Number(new URL(instance.address).port), '127.0.0.1');
      for (const [one, other] of [[socket, onward] as const, [onward, socket] as const]) {
        sockets.add(one);
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
      }
      onward.pipe(socket);
      socket.on('data', (chunk) => (ends ? socket.destroy() : onward.write(chunk)));
    });
    const port = await listening(server);
    const line = {
      instance: { ...instance, address: `http://127.0.0.1:${port}` },
      cut: () => sockets.forEach((socket) => socket.destroy()),
      endOnRequest: () => void (ends = true),
      close: () => (line.cut(), server.close()),
    };
    open.push(line);
    return line;
  }

  describe('is not run once more', () => {
    for (const victim of ['supervisor', 'process'] as const) {
      it(`when the ${victim} that ran it is killed after the mark, and another instance is free`, async () => {
        const running = call(instances);
        await marked();
        const busy = await firstBusy(instances);
        const supervisor = supervisorOf(busy);
        const struck = victim === 'supervisor' ? supervisor : descendantsOf(supervisor.pid).at(-1)!;
        process.kill(struck.pid, 'SIGKILL');
        expect(await running).to.deep.equal({ kind: 'crashed' });
        expect(marks).to.equal(1);
        answersMarks = true;
        expect(await call(instances.filter((one) => one !== busy))).to.include({ raw: 'done' });
        expect(marks).to.equal(2);
      });
    }

    it('when the connection is cut after the mark', async () => {
      const line = await openLine(instances[0]!);
      const running = call([line.instance, instances[1]!]);
      await marked();
      line.cut();
      expect(await running).to.deep.equal({ kind: 'crashed' });
      expect(marks).to.equal(1);
    });
  });

  describe('is run by another instance, once', () => {
    beforeEach(() => {
      answersMarks = true;
    });

    it('when the first one is busy', async () => {
      answersMarks = false;
      const first = call([instances[0]!]);
      await marked();
      answersMarks = true;
      const elsewhere = createReactorClient();
      const { tenantId, reactorId, revision } = reactor.workload;
      elsewhere.instances.replace(tenantId, reactorId, instances);
      const invocation = { tenantId, reactorId, revision, args: {}, traceId: 't', timeoutMs: 20_000, svc };
      expect(await elsewhere.invoke(invocation)).to.include({ raw: 'done' });
      expect(marks).to.equal(2);
      for (const each of open.splice(0)) each.close();
      await first;
      await elsewhere.stop();
    });

    it('when the first one is gone', async () => {
      process.kill(supervisorOf(instances[0]!).pid, 'SIGKILL');
      expect(await call(instances)).to.include({ raw: 'done' });
      expect(marks).to.equal(1);
    });

    it('when a kept connection to the first one ends as the call goes out on it', async () => {
      const line = await openLine(instances[0]!);
      expect(await call([line.instance])).to.include({ raw: 'done' });
      line.endOnRequest();
      expect(await call([line.instance, instances[1]!])).to.include({ raw: 'done' });
      expect(marks).to.equal(2);
    });
  });
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The one that has no room for another call. */
async function firstBusy(instances: ReactorInstance[]): Promise<ReactorInstance> {
  for (const instance of instances) {
    const headers = { authorization: `Bearer ${instance.credential}` };
    if ((await fetch(`${instance.address}/readyz`, { headers })).status === 503) return instance;
  }
  throw new Error('no instance is busy');
}

/** By the port that it listens on: proc(5), `net/tcp`, and the sockets that a process has open. */
function supervisorOf({ address }: ReactorInstance): ProcessIdentity {
  const port = Number(new URL(address).port).toString(16).toUpperCase().padStart(4, '0');
  const table = readFileSync('/proc/net/tcp', 'utf8');
  const listener = new RegExp(`^ *\\d+: 0100007F:${port} 00000000:0000 0A(?: +\\S+){5} +(\\d+)`, 'm');
  const socket = `socket:[${listener.exec(table)?.[1]}]`;
  return descendantsOf(process.pid).find(({ pid }) => openBy(pid).includes(socket))!;
}

function openBy(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    // It has ended, or is another user's.
    return [];
  }
}

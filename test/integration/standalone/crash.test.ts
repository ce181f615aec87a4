import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { createStandaloneFolder, UNLIMITED_TENANT, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { SAMPLES, startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

const WRITERS = 8;
/** Acknowledged by all writers together before the program is killed under them. */
const ENOUGH = 200;

interface Acknowledged {
  /** Data by id, as the last acknowledged write left them. */
  kept: Map<string, string>;
  deleted: Set<string>;
  /** The answer to these never came: all of it may have happened, or nothing. */
  unknown: Map<string, string>;
}

describe('kill -9 of standalone', function () {
  this.timeout(60_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;

  const start = () => startStandalone({ ...folder, flags: ['--ip-rate-limits', 'off'] });

  before(async () => {
    folder = await createStandaloneFolder(SAMPLES);
    await folder.write('tenant.yaml', [UNLIMITED_TENANT]);
    vault = await start();
  });
  after(async () => {
    await vault.stop();
    await folder.dispose();
  });

  const size = ({ kept, deleted }: Acknowledged): number => kept.size + deleted.size;

  /** Creates, then updates every third and deletes every fourth, until the program is gone. */
  async function write(writer: number, key: string, acknowledged: Acknowledged): Promise<void> {
    for (let round = 0; ; round += 1) {
      const id = `crash-${writer}-${round}`;
      const data = `data of ${id}`;
      acknowledged.unknown.set(id, data);
      try {
        const created = await vault.request('POST', '/tokens', { key, body: { id, type: 'token', data } });
        expect(created.status).to.equal(201);
        acknowledged.kept.set(id, data);
        if (round % 3 === 0) {
          acknowledged.unknown.set(id, `new ${data}`);
          const updated = await vault.request('PATCH', `/tokens/${id}`, { key, body: { data: `new ${data}` } });
          expect(updated.status).to.equal(200);
          acknowledged.kept.set(id, `new ${data}`);
        }
        if (round % 4 === 0) {
          acknowledged.unknown.set(id, 'deleted');
          const deleted = await vault.request('DELETE', `/tokens/${id}`, { key });
          expect(deleted.status).to.equal(204);
          acknowledged.kept.delete(id);
          acknowledged.deleted.add(id);
        }
        acknowledged.unknown.delete(id);
      } catch (error) {
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  }

  it('loses nothing that was acknowledged, and brings nothing deleted back', async () => {
    const key = await vault.keyOf('payments');
    const acknowledged: Acknowledged = { kept: new Map(), deleted: new Set(), unknown: new Map() };
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer, key, acknowledged)));
    await eventually(() => expect(size(acknowledged)).to.be.above(ENOUGH), { deadlineMs: 30_000 });
    // Without waiting for its Postgres: the next start has to.
    await vault.crash();
    await writing;
    vault = await start();

    const { kept, deleted, unknown } = acknowledged;
    expect(size(acknowledged)).to.be.above(ENOUGH);
    for (const [id, data] of kept) {
      const { status, body } = await vault.request('GET', `/tokens/${id}`, { key });
      const possible = unknown.get(id);
      if (status === 404) expect(possible, id).to.equal('deleted');
      else expect(body.data, id).to.be.oneOf(possible === undefined ? [data] : [data, possible]);
    }
    for (const id of deleted) expect((await vault.request('GET', `/tokens/${id}`, { key })).status, id).to.equal(404);
    for (const [id, data] of unknown) {
      if (kept.has(id)) continue;
      const { status, body } = await vault.request('GET', `/tokens/${id}`, { key });
      if (status !== 404) expect(body.data, id).to.equal(data);
    }
  });

  it('leaves no process behind, and an audit entry for every plaintext that it gave out', async () => {
    const key = await vault.keyOf('payments');
    const id = 'read-before-the-end';
    await vault.request('POST', '/tokens', { key, body: { id, type: 'token', data: 'seen' } });
    expect((await vault.request('GET', `/tokens/${id}`, { key })).body.data).to.equal('seen');
    await vault.kill();
    vault = await start();
    const { body } = await vault.request('GET', `/logs?entity_id=${id}`, { key: await vault.keyOf('admin') });
    const operations = (body.data as { operation: string }[]).map(({ operation }) => operation);
    expect(operations).to.deep.equal(['read', 'create']);
  });

  it('ends it with a reason when its Postgres is killed instead', async () => {
    const postmaster = Number(
      (await readFile(join(folder.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0],
    );
    process.kill(postmaster, 'SIGKILL');
    const { code, stderr } = await vault.ended();
    vault = await start();
    expect(code).to.equal(1);
    expect(stderr).to.include('Postgres ended unexpectedly; its log is');
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { idBytes } from '../../../src/keys/unwrapped-keys.ts';
import {
  alterations,
  columnsOfBytes,
  INVOCATION_COLUMNS,
  SEALED_COLUMNS,
  type SealedColumnName,
  UNSEALED_COLUMNS,
} from '../../support/sealed-columns.ts';
import {
  putSealed,
  readThrough,
  refusalOf,
  rowIdOf,
  sealedIn,
  sealedTenant,
  type SealedTenant,
} from '../../support/sealed-vault.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const NAMES = Object.keys(SEALED_COLUMNS) as SealedColumnName[];

describe('a sealed value in the database', function () {
  this.timeout(300_000);

  let vault: TestVault;
  let tenant: SealedTenant;
  let other: SealedTenant;
  /** Requests that were refused, by column. */
  const refusals = new Map<SealedColumnName, number>(NAMES.map((name) => [name, 0]));

  before(async () => {
    vault = await startTestVault({ reactors: true });
    tenant = await sealedTenant(vault);
    other = await sealedTenant(vault);
  });
  after(() => vault.stop());

  /** Puts each in the place of the value, and fails unless it is refused; then puts the value back, which opens. */
  async function expectRefused(
    context: Context,
    name: SealedColumnName,
    attacks: Iterable<readonly [what: string, sealed: Buffer]>,
  ): Promise<void> {
    const sealed = await sealedIn(vault, name, tenant);
    let count = 0;
    const answered: Record<string, number> = {};
    for (const [what, attack] of attacks) {
      await putSealed(vault, name, tenant, attack);
      const { status } = await readThrough(vault, name, tenant);
      if (status !== refusalOf(name)) answered[what] = status;
      else refusals.set(name, refusals.get(name)! + 1);
      count += 1;
    }
    await putSealed(vault, name, tenant, sealed);
    expect(answered).to.deep.equal({});
    expect((await readThrough(vault, name, tenant)).status).to.be.oneOf([200, 201]);
    context.test!.title += ` (${count} attacks, each refused with ${refusalOf(name)})`;
  }

  async function keyIds(purposes: readonly string[], of = tenant): Promise<Buffer[]> {
    const rows = await vault.database.run<{ id: string }>(
      { text: 'select data_key_id as id from data_keys where tenant_id = $1 and purpose = any ($2::text[])' },
      [of.tenantId, purposes],
    );
    return rows.map(({ id }) => idBytes(id));
  }

  function underKey(sealed: Buffer, id: Buffer): Buffer {
    const moved = Buffer.from(sealed);
    id.copy(moved, 1);
    return moved;
  }

  it('is in a column that the tests below know; what else holds bytes is hashes', async () => {
    const sealed = Object.values(SEALED_COLUMNS).map(({ table, column }) => `${table}.${column}`);
    const ofWorkers = INVOCATION_COLUMNS.map((column) => `reactor_invocations.${column}`);
    const known = [...sealed, ...ofWorkers, ...UNSEALED_COLUMNS].sort();
    expect(await columnsOfBytes(vault.database)).to.deep.equal(known);
  });

  for (const name of NAMES) {
    describe(`of ${SEALED_COLUMNS[name].table}.${SEALED_COLUMNS[name].column}`, () => {
      const thoroughness = name === 'data' ? 'every byte' : 'some bytes';

      it(`is refused with ${thoroughness} changed, cut off or added`, async function () {
        await expectRefused(this, name, alterations(await sealedIn(vault, name, tenant), thoroughness));
      });

      it('is refused in the place of every other one', async function () {
        const attacks: [string, Buffer][] = [];
        for (const from of NAMES) {
          for (const [whose, of] of Object.entries({ tenant, other })) {
            for (const row of [0, 1] as const) {
              if (from === name && of === tenant && row === 0) continue;
              attacks.push([`${from} of row ${row} of ${whose}`, await sealedIn(vault, from, of, row)]);
            }
          }
        }
        await expectRefused(this, name, attacks);
      });

      it('is refused under the id of any other key', async function () {
        const sealed = await sealedIn(vault, name, tenant);
        const ids = [
          ...(await keyIds(['data', 'cvc', 'fingerprint', 'search'])),
          ...(await keyIds(['data', 'cvc', 'fingerprint'], other)),
          ...[idBytes(randomUUID()), Buffer.alloc(16), Buffer.alloc(16, 0xff)],
        ].filter((id) => !id.equals(sealed.subarray(1, 17)));
        expect(ids.length).to.be.at.least(7);
        await expectRefused(
          this,
          name,
          ids.map((id) => [id.toString('hex'), underKey(sealed, id)]),
        );
      });

      it('is refused as one of the first format, however its row calls itself', async function () {
        const { table, rowKey } = SEALED_COLUMNS[name];
        const setFormat = (format: number) =>
          vault.database.run(
            { text: `update ${table} set sealed_format = $3 where tenant_id = $1 and ${rowKey}::text = $2` },
            [tenant.tenantId, rowIdOf(name, tenant), format],
          );
        const sealed = await sealedIn(vault, name, tenant);
        const disguised = Buffer.concat([Buffer.of(1), sealed.subarray(1)]);
        await expectRefused(this, name, [['first byte', disguised]]);
        for (const format of [0, 1, 3, 255]) {
          await setFormat(format);
          for (const attack of [sealed, disguised]) {
            await putSealed(vault, name, tenant, attack);
            expect((await readThrough(vault, name, tenant)).status).to.equal(refusalOf(name));
            refusals.set(name, refusals.get(name)! + 1);
          }
        }
        await setFormat(2);
        await putSealed(vault, name, tenant, sealed);
        expect((await readThrough(vault, name, tenant)).status).to.be.oneOf([200, 201]);
      });
    });
  }

  describe('refused', () => {
    it('is counted for its column and logged, each time', async function () {
      const { values } = await vault.metrics.registry.getSingleMetric('tokenkeep_seal_broken_total')!.get();
      for (const [name, refused] of refusals) {
        const { table, column } = SEALED_COLUMNS[name];
        const counted = values.find(({ labels }) => labels['table'] === table && labels['column'] === column);
        // Those who start reactors read them too.
        expect(counted?.value, name).to.be.at.least(refused).and.above(100);
      }
      const [row] = await vault.database.run<{ count: number }>(
        {
          text: `
            select count(*)::integer as count from logs
            where tenant_id = $1 and message like 'refused as damaged: %' and actor_type = 'application'`,
        },
        [tenant.tenantId],
      );
      expect(row!.count).to.equal([...refusals.values()].reduce((sum, count) => sum + count, 0));
      this.test!.title += ` (${row!.count} entries)`;
    });
  });
});

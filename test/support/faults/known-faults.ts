import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import type { Toxic } from '../toxiproxy.ts';
import type { Fault } from './scenario.ts';
import type { FaultStage } from './stage.ts';

export const SERVER_FAULTS: readonly Fault[] = [
  {
    name: 'is sealed, and unsealed again',
    strike: ({ server }) => server.seal(),
    mend: ({ server }) => server.unseal(),
    logged: /sealed/,
  },
  {
    name: 'is killed, and started again',
    strike: ({ server }) => server.kill(),
    mend: ({ server }) => server.start(),
    logged: /Vault does not answer/,
  },
];

function spoiled(name: string, toxic: Toxic, logged: RegExp): Fault {
  return { ...{ name, logged }, strike: ({ link }) => link.spoil(toxic), mend: ({ link }) => link.heal() };
}

/** Slower than a try may take. */
const SLOW_MS = 2_500;

export const NETWORK_FAULTS: readonly Fault[] = [
  spoiled(
    'delays every answer by seconds',
    { type: 'latency', attributes: { latency: SLOW_MS } },
    /nothing within \d+ ms/,
  ),
  spoiled(
    'lets answers trickle, so that none is ever silent for long',
    { type: 'slicer', attributes: { average_size: 16, size_variation: 8, delay: 300_000 } },
    /nothing within \d+ ms/,
  ),
  spoiled('has no bandwidth left', { type: 'bandwidth', attributes: { rate: 0 } }, /nothing within \d+ ms/),
  spoiled('drops every answer', { type: 'timeout', attributes: { timeout: 0 } }, /nothing within \d+ ms/),
  spoiled('resets connections', { type: 'reset_peer', attributes: { timeout: 0 } }, /Vault does not answer/),
  {
    name: 'refuses connections',
    strike: ({ link }) => link.cut(),
    mend: ({ link }) => link.heal(),
    logged: /Vault does not answer/,
  },
];

/** OpenBao has no empty policy; this one allows what nobody needs. */
const NOTHING = 'path "none" { capabilities = ["read"] }';
const MAKING_ALONE = `
  path "transit/datakey/plaintext/*" { capabilities = ["update"] }
  path "auth/token/lookup-self" { capabilities = ["read"] }`;

export const ACCESS_FAULTS: readonly Fault[] = [
  {
    name: 'is ended with its token, and comes back with a new one in the same file',
    strike: ({ revokeToken }) => revokeToken(),
    mend: ({ renewToken }) => renewToken(),
    logged: /the token of .* is not, or no longer, valid/,
  },
  {
    name: 'is taken out of its policy, and given back',
    strike: ({ transit }) => transit.putPolicy('tokenkeep-api', NOTHING),
    mend: ({ transit }) => transit.restorePolicy('tokenkeep-api'),
    logged: /policy does not allow|no longer, valid/,
  },
  {
    name: 'is narrowed so that it may make data keys and not open them',
    strike: ({ transit }) => transit.putPolicy('tokenkeep-api', MAKING_ALONE),
    mend: ({ transit }) => transit.restorePolicy('tokenkeep-api'),
    logged: /transit\/decrypt\/tokenkeep: its policy does not allow that/,
  },
];

/** As an administrator: the vault's own policy lets it do nothing of the kind. */
async function deleteKey({ transit }: FaultStage): Promise<void> {
  const path = 'transit/keys/tokenkeep';
  await transit.demand({ method: 'POST', path: `${path}/config`, body: { deletion_allowed: true } });
  await transit.demand({ method: 'DELETE', path });
}

export async function recreateKey(stage: FaultStage): Promise<void> {
  await deleteKey(stage);
  await stage.transit.makeKeys();
}

/** No key can be taken out of transit: a snapshot of all of its storage is the backup that there is. */
async function takeSnapshot({ server }: FaultStage): Promise<Buffer> {
  const headers = { 'x-vault-token': server.rootToken };
  const response = await fetch(`${server.address}/v1/sys/storage/raft/snapshot`, { headers });
  expect(response.status).to.equal(200);
  return Buffer.from(await response.arrayBuffer());
}

async function restoreSnapshot({ server }: FaultStage, snapshot: Buffer): Promise<void> {
  const headers = { 'x-vault-token': server.rootToken };
  const path = '/v1/sys/storage/raft/snapshot-force';
  const response = await fetch(server.address + path, { method: 'POST', headers, body: new Uint8Array(snapshot) });
  expect(response.status).to.be.below(300);
}

const CONTEXT = Buffer.from('administrator').toString('base64');

/** Mended from a snapshot that is taken right before, which the server takes some seconds for. */
export function restored(fault: Pick<Fault, 'name' | 'logged'>, damage: (stage: FaultStage) => Promise<void>): Fault {
  let snapshot: Buffer;
  let ciphertext: string;
  return {
    ...fault,
    async strike(stage) {
      const body = { plaintext: Buffer.from('probe').toString('base64'), context: CONTEXT };
      ({ ciphertext } = await stage.transit.demand({ method: 'POST', path: 'transit/encrypt/tokenkeep', body }));
      snapshot = await takeSnapshot(stage);
      await damage(stage);
    },
    async mend(stage) {
      await restoreSnapshot(stage, snapshot);
      const body = { ciphertext, context: CONTEXT };
      await eventually(() => stage.transit.demand({ method: 'POST', path: 'transit/decrypt/tokenkeep', body }), {
        deadlineMs: 60_000,
      });
    },
  };
}

export const MASTER_KEY_FAULTS: readonly Fault[] = [
  restored(
    {
      name: 'is deleted, and restored from a snapshot',
      logged: /Vault has no transit key tokenkeep, and data is sealed under it: restore it/,
    },
    deleteKey,
  ),
  restored(
    { name: 'is another one under the same name, until the right one is restored', logged: /restore (it|that key)/ },
    recreateKey,
  ),
];

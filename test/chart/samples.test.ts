import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { parsePostgresUrl } from '../../src/config/values.ts';
import { NEEDED_VALUES, renderChart, requireHelm, type ChartValues } from '../support/kubernetes/helm.ts';
import { ofKind, parseManifests, podsIn } from '../support/kubernetes/manifests.ts';

const FOLDER = new URL('../../config/postgres/', import.meta.url);

/** Entries of Secrets that CloudNativePG makes for the cluster `vault-db`. */
const MADE_BY_CLOUDNATIVEPG = ['vault-db-app uri', 'vault-db-ca ca.crt'];

const read = (file: string): Promise<string> => readFile(new URL(file, FOLDER), 'utf8');

describe('samples of a Postgres', () => {
  before(async function () {
    await requireHelm(this);
  });

  for (const [name, others] of Object.entries({ plain: [], 'cloudnative-pg': MADE_BY_CLOUDNATIVEPG })) {
    describe(name, () => {
      it('has every entry of every Secret that the chart is told of, in its namespace', async () => {
        const secrets = ofKind('Secret', parseManifests(await read(`${name}.yaml`)));
        for (const { metadata } of secrets) expect(metadata.namespace).to.equal('tokenkeep-system');
        const known = secrets.flatMap(({ metadata, stringData = {} }) =>
          Object.keys(stringData).map((key) => `${metadata.name} ${key}`),
        );
        const database = (parse(await read(`${name}-values.yaml`)) as ChartValues)['database'];
        const pods = podsIn(parseManifests(await renderChart({ ...NEEDED_VALUES, database })));
        const text = JSON.stringify(pods);
        const used = [...new Set(text.match(/"(?:vault-db|tokenkeep-database)-[a-z]+"/g))].map(
          (each) => JSON.parse(each) as string,
        );
        expect(used).to.have.lengthOf(name === 'plain' ? 3 : 4);
        const entries = used.map((secret) => [...known, ...others].find((entry) => entry.startsWith(`${secret} `)));
        expect(entries).not.to.include(undefined);
      });

      it('has URLs that the program reads, with the user and the password beside', async () => {
        const secrets = ofKind('Secret', parseManifests(await read(`${name}.yaml`)));
        for (const { stringData = {} } of secrets) {
          const { username, password, pathname } = new URL(parsePostgresUrl(stringData['uri']!));
          expect(pathname).to.equal('/vault');
          expect([username, password]).to.deep.equal([
            stringData['username'] ?? username,
            stringData['password'] ?? 'CHANGE-ME',
          ]);
        }
      });
    });
  }

  it('has the roles of its logins managed by the cluster', async () => {
    const [cluster] = ofKind('Cluster', parseManifests(await read('cloudnative-pg.yaml')));
    const { roles } = cluster!.spec!['managed'] as {
      roles: { name: string; login?: boolean; inRoles?: string[]; passwordSecret?: { name: string } }[];
    };
    const groups = roles.filter(({ login }) => login !== true).map(({ name }) => name);
    expect(groups).to.deep.equal(['tokenkeep_api', 'tokenkeep_sweeper']);
    const logins = roles.filter(({ login }) => login);
    expect(logins.map(({ inRoles }) => inRoles)).to.deep.equal([['tokenkeep_api'], ['tokenkeep_sweeper']]);
    const secrets = ofKind('Secret', parseManifests(await read('cloudnative-pg.yaml')));
    const owners = secrets.map(({ metadata, stringData }) => [metadata.name, stringData!['username']]);
    expect(logins.map(({ name, passwordSecret }) => [passwordSecret!.name, name])).to.deep.equal(owners);
  });
});

import { expect } from 'chai';
import { placesOf } from '../../../../src/cli/kubectl/in-pod.ts';
import { partsSettings } from '../../../../src/config/parts-settings.ts';

/** Of the command's own: the pod's logs are none of it, and a keyring's folder is given by another name. */
const OWN = ['data-dir', 'log-level', 'log-format'];

describe('a command in the pod of the API', () => {
  const places = Object.values(partsSettings)
    .filter(({ flag, variable }) => variable === undefined && !OWN.includes(flag))
    .map(({ flag, placeholder }) => (placeholder === '' ? `--${flag}` : `--${flag}=x`));

  it('finds the database and the keys where the API does', () => {
    expect(places).to.include.members(['--vault-allow-http', '--maintenance-database-url=x', '--transit-key=x']);
    expect(placesOf({ args: ['api', ...places] })).to.deep.equal(places);
    expect(placesOf({ args: ['--keyring-dir=/keys'] })).to.deep.equal(['--data-dir=/keys']);
  });

  it('is given nothing that is the API’s alone', () => {
    const args = ['api', '--port=8080', '--redis-url-file=/redis', '--log-level=info', '--trusted-proxies=0'];
    expect(placesOf({ args })).to.deep.equal([]);
    expect(placesOf({})).to.deep.equal([]);
  });
});

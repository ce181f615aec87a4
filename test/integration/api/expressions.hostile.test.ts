import { expect } from 'chai';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import { HOSTILE } from '../../fixtures/expressions/hostile.ts';
import { rulesFor } from '../../support/access.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('hostile expressions over the API', () => {
  let vault: TestVault;
  let tenantId: string;
  let owner: TestApplication;
  let victim: string;

  const create = (body: object): Promise<Answer> => vault.request('POST', '/tokens', { key: owner.key, body });

  /** Reads another token again and again until `attack` is answered. */
  async function beside(attack: Promise<Answer>): Promise<Answer> {
    let isUnderWay = true;
    const answered = attack.finally(() => (isUnderWay = false));
    do {
      const { status, body } = await vault.request('GET', `/tokens/${victim}`, { key: owner.key });
      expect({ status, data: body.data }).to.deep.equal({ status: 200, data: 'victim' });
    } while (isUnderWay);
    return answered;
  }

  before(async () => {
    vault = await startTestVault();
    tenantId = await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, detokenize: 100 } });
    owner = await vault.application({ tenantId, rules: rulesFor({ '/': 'reveal' }) });
    victim = (await create({ type: 'token', data: 'victim' })).body.id;
  });
  after(() => vault.stop());

  for (const [group, cases] of Object.entries(HOSTILE)) {
    for (const { name, template, data, outcome } of cases) {
      it(`are stored or refused beside a reader, ${group}: ${name}`, async () => {
        const { status, body } = await beside(create({ type: 'token', data, mask: template }));
        // A value may still be refused: as deeper than a body may be, or on a machine that is busy.
        expect(status, JSON.stringify(body).slice(0, 500)).to.be.oneOf(outcome === 'refused' ? [400] : [201, 400]);
        if (status === 400) expect(JSON.stringify(body).length).to.be.lessThan(30_000);
      });
    }
  }

  it('hide what they mask, and nothing else, in the list of somebody else', async () => {
    const reader = await vault.application({ tenantId, rules: rulesFor({ '/': 'mask' }) });
    const inList = { metadata: { list: 'masks' } };
    await create({
      ...inList,
      id: 'ordinary',
      type: 'token',
      data: 'secret-1234',
      mask: '{{ data | reveal_last: 4 }}',
    });
    // Within the bounds of one template each, and far beyond those of a request together.
    const slow = {
      ...inList,
      type: 'token',
      data: 'a'.repeat(10_000),
      mask: `{{ data ${'| reveal_last: 4 '.repeat(3)}}}`,
    };
    for (let count = 0; count < 90; count++) expect((await create(slow)).status).to.equal(201);

    const { status, body } = await vault.request('GET', '/tokens?size=100&metadata.list=masks', { key: reader.key });
    expect(status).to.equal(200);
    const masks = new Map<string, string | undefined>(body.data.map((token: any) => [token.id, token.data])); // eslint-disable-line @typescript-eslint/no-explicit-any -- answers are looked into freely
    expect(masks.size).to.equal(91);
    expect(masks.get('ordinary')).to.equal('XXXXXX-1234');
    masks.delete('ordinary');
    for (const shown of masks.values()) expect(shown).to.be.oneOf([undefined, `${'X'.repeat(9_996)}aaaa`]);
  });

  it('cannot use the tokens of a detokenization against it', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { body } = await create({ type: 'token', data: Array.from({ length: 5_000 }, () => ({ a: [1] })) });
        return body.id as string;
      }),
    );
    const body = Object.fromEntries(ids.map((id) => [id, `{{ ${id} | json: '$..[?@..[?@..a]]' }}`]));
    const { status, body: problem } = await beside(vault.request('POST', '/detokenize', { key: owner.key, body }));
    expect(status).to.equal(400);
    expect(Object.values(problem.errors).flat().join()).to.contain('filter json');
  });
});

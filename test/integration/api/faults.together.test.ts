import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('faults of one request', () => {
  let vault: TestVault;
  let application: TestApplication;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault();
    const tenantId = await vault.tenant();
    application = await vault.application({ tenantId, rules: rulesFor({ '/': 'reveal' }) });
    manager = await vault.application({ tenantId, type: 'management' });
  });
  after(() => vault.stop());

  const send = async (method: string, path: string, body?: object, by = application) => {
    const answer = await vault.request(method, path, { key: by.key, ...(body ? { body } : {}) });
    return answer.body as { id: string; errors: Record<string, string[]> };
  };
  const faults = async (...request: Parameters<typeof send>) => Object.keys((await send(...request)).errors);

  it('are told together: a mask and metadata of a patch', async () => {
    const { id } = await send('POST', '/tokens', { type: 'token', data: 'x' });
    expect(await faults('PATCH', `/tokens/${id}`, { metadata: { a: 1 }, mask: '{{ data | z }}' })).to.have.members([
      ...['metadata.a', 'mask'],
    ]);
  });

  it('are told together: containers that are too many, and none', async () => {
    expect(await faults('POST', '/tokens', { type: 'token', data: 'x', containers: ['bad', '/ok/', 'x'] }))
      .to.have //
      .members(['containers', 'containers[0]', 'containers[2]']);
  });

  const rules = [{ priority: 0, container: 'x', conditions: [{}] }, {}];
  const ofRules = [
    ...['rules[0].priority', 'rules[0].transform', 'rules[0].permissions', 'rules[0].container', 'rules[0]'],
    ...['attribute', 'operator', 'value'].map((name) => `rules[0].conditions[0].${name}`),
    ...['rules[1].priority', 'rules[1].transform', 'rules[1].permissions', 'rules[1]'],
  ];

  it('are told together: what rules lack, and what they are scoped to', async () => {
    expect(await faults('POST', '/sessions/authorize', { nonce: 'x', rules })).to.have.members(ofRules);
    for (const type of ['private', undefined]) {
      const told = await faults('POST', '/applications', { name: 'x', type, rules }, manager);
      expect(told).to.have.members([...ofRules, ...(type === undefined ? ['type'] : [])]);
    }
    expect(await faults('PUT', `/applications/${manager.id}`, { name: 'x', rules }, manager)).to.have.members(ofRules);
  });

  it('are told together: unknown tokens and expressions that cannot be read', async () => {
    const body = { a: `{{ ${randomUUID()} }}`, b: ['{{ abc | nope }}'], c: '{{ config: X }}' };
    expect(await faults('POST', '/detokenize', body)).to.have.members(['a', 'b[0]', 'c']);
  });

  it('are told together: every parameter of a query', async () => {
    expect(await faults('GET', '/logs?start_date=zz&end_date=zz&size=0', undefined, manager)).to.have.members([
      ...['start_date', 'end_date', 'size'],
    ]);
  });

  it('name each alternative once, and what is missing as missing', async () => {
    const tenant = { name: 'x', settings: { deduplicate_tokens: 5 } };
    const updater = await vault.application({ type: 'management' });
    expect((await send('PUT', '/tenants/self', tenant, updater)).errors).to.deep.equal({
      'settings.deduplicate_tokens': ['must be one of true, false'],
    });
    expect((await send('POST', '/tokens', { type: 'bank', data: {} })).errors).to.deep.equal({
      'data.routing_number': ['is required'],
      'data.account_number': ['is required'],
    });
  });

  for (const query of ['page=1e2', 'size=%205', 'size=5%20', 'size=0x5', 'size=%2B5', 'size=5.0', 'size=']) {
    it(`are numbers that are not plain digits: ${query}`, async () => {
      const [name] = query.split('=');
      expect((await send('GET', `/applications?${query}`, undefined, manager)).errors).to.deep.equal({
        [name!]: ['must be an integer'],
      });
    });
  }

  for (const [name, body, path] of [
    ['fingerprint', { fingerprint_expression: '{{ dat }}' }, 'fingerprint_expression'],
    ['mask', { mask: { a: '{{ dta | last4 }}' } }, 'mask.a'],
    ['search index', { search_indexes: ['{{ data | append: nope }}'] }, 'search_indexes[0]'],
    ['id', { id: '{{ dat }}' }, 'id'],
  ] as const) {
    it(`are names that are no variable, in the expression of a ${name}`, async () => {
      const { id } = await send('POST', '/tokens', { type: 'token', data: 'x' });
      const token = { type: 'token', data: 'x', ...body };
      expect(await faults('POST', '/tokens', token)).to.deep.equal([path]);
      expect(await faults('POST', '/tokenize', { a: [token] })).to.deep.equal([`a[0].${path}`]);
      if (name !== 'id') expect(await faults('PATCH', `/tokens/${id}`, body)).to.deep.equal([path]);
    });
  }

  it('are tokens among the arguments of a reference, whose data would be left out', async () => {
    const [one, two] = [
      await send('POST', '/tokens', { type: 'token', data: 'one' }),
      await send('POST', '/tokens', { type: 'token', data: 'two' }),
    ];
    const { errors } = await send('POST', '/detokenize', { x: `{{ ${one.id} | append: ${two.id} }}` });
    expect(Object.keys(errors)).to.deep.equal(['x']);
    expect(await send('POST', '/detokenize', { x: `{{ ${one.id} }}{{ ${two.id} }}` })).to.deep.equal({
      x: 'onetwo',
    });
  });

  it('lists applications of every type that is asked for', async () => {
    const ids = async (query: string) => {
      const answer = await vault.request('GET', `/applications?${query}`, { key: manager.key });
      return (answer.body.data as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids('type=public&type=management')).to.deep.equal([manager.id]);
    expect(await ids('type=private&type=management')).to.have.members([manager.id, application.id]);
  });
});

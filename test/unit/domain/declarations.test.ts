import { expect } from 'chai';
import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';

describe('ids of declared things', () => {
  const tenant = tenantIdOf('default');

  // Written out: another value would orphan what every installation has declared.
  it('never change', () => {
    expect(tenant).to.equal('f47d88d6-9b32-54df-8ac6-88fd4f43f698');
    expect(declaredId(tenant, 'Application', 'shop', 'checkout')).to.equal('92caaa3d-eb9f-5bbd-90d8-ae48cb42f5b9');
  });

  it('differ by tenant, kind, namespace and name', () => {
    const ids = [
      declaredId(tenant, 'Application', 'shop', 'checkout'),
      declaredId(tenantIdOf('other'), 'Application', 'shop', 'checkout'),
      declaredId(tenant, 'Reactor', 'shop', 'checkout'),
      declaredId(tenant, 'Application', 'other', 'checkout'),
      declaredId(tenant, 'Application', 'shop', 'other'),
    ];
    expect(new Set(ids)).to.have.property('size', ids.length);
  });

  it('keep a namespace and a name apart', () => {
    expect(declaredId(tenant, 'Reactor', 'a', 'b-c')).not.to.equal(declaredId(tenant, 'Reactor', 'a-b', 'c'));
  });
});

import { expect } from 'chai';
import { buildSecretPatch, readSecret } from '../../../../src/operator/sources/kubernetes/secret-object.ts';
import type { OwnerReference, SecretObject } from '../../../../src/operator/sources/kubernetes/objects.ts';
import type { OwnedSecret } from '../../../../src/operator/sources/types.ts';

const MARKS = {
  labels: { 'app.kubernetes.io/managed-by': 'tokenkeep', 'tokenkeep.dev/application': 'payments' },
  annotations: { 'tokenkeep.dev/key-digest': 'd' },
};
const wanted: OwnedSecret = {
  ...{ namespace: 'shop', name: 'key', ...MARKS, data: { 'api-key': 'k' }, isRetained: false },
  owner: { kind: 'Application', namespace: 'shop', name: 'payments' },
};
const reference = (changes: Partial<OwnerReference> = {}): OwnerReference => ({
  ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application', name: 'payments', uid: 'uid-1' },
  controller: true,
  ...changes,
});
const object = (metadata: object, rest: object = {}): SecretObject => ({
  metadata: { name: 'key', uid: 's', resourceVersion: '7', creationTimestamp: '', ...metadata },
  data: { 'api-key': Buffer.from('k').toString('base64') },
  ...rest,
});
const read = (metadata: object) => {
  const secret = readSecret('shop', object(metadata));
  return secret === 'foreign' ? expect.fail('foreign') : secret;
};

describe('a Secret of Kubernetes', () => {
  it('is ours where our kind controls it, or where nothing does and both marks are there', () => {
    expect(read({ ownerReferences: [reference()] }).owner).to.deep.equal(wanted.owner);
    expect(read(MARKS)).to.deep.include({ owner: wanted.owner, isRetained: true });
    const strangers = [
      {},
      { labels: MARKS.labels },
      { annotations: MARKS.annotations },
      { ...MARKS, ownerReferences: [reference({ apiVersion: 'apps/v1', kind: 'Deployment' })] },
      { ownerReferences: [reference({ controller: false })] },
      { ownerReferences: [reference({ apiVersion: 'tokenkeep.dev.example.com/v1' })] },
    ];
    for (const metadata of strangers) expect(readSecret('shop', object(metadata))).to.equal('foreign');
  });

  it('is read without entries that are not text: a key that became such is lost, and none that we would repeat', () => {
    const binary = Buffer.from([0xff, 0xfe, 0x00]).toString('base64');
    const secret = readSecret('shop', object(MARKS, { data: { 'api-key': binary, note: 'dGV4dA==' } }));
    expect(secret).to.deep.include({ data: { note: 'text' } });
  });

  it('that is as it should be needs no patch, whatever others added', () => {
    const labels = { ...MARKS.labels, team: 'care' };
    const secret = read({ ...MARKS, labels, ownerReferences: [reference()] });
    expect(buildSecretPatch(wanted, secret, 'uid-1')).to.be.undefined;
  });

  it('is taken over from a former owner of the same name, in a patch that fails where it changed meanwhile', () => {
    const other = reference({ kind: 'ConfigMap', name: 'other', uid: 'uid-3', controller: false });
    const secret = read({ ...MARKS, ownerReferences: [reference({ uid: 'uid-0' }), other] });
    expect(buildSecretPatch(wanted, secret, 'uid-1')).to.deep.equal({
      metadata: { resourceVersion: '7', labels: {}, annotations: {}, ownerReferences: [other, reference()] },
    });
  });

  it('loses annotations of ours that are no longer wanted, and none of others', () => {
    const annotations = { ...MARKS.annotations, 'tokenkeep.dev/previous-key-digest': 'p', 'example.com/note': 'x' };
    const secret = read({ ...MARKS, annotations, ownerReferences: [reference()] });
    expect(buildSecretPatch(wanted, secret, 'uid-1')).to.deep.equal({
      metadata: { resourceVersion: '7', labels: {}, annotations: { 'tokenkeep.dev/previous-key-digest': null } },
    });
  });
});

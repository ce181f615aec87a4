import { expect } from 'chai';
import { loadDefinitions } from '../../../../src/operator/schema/definitions.ts';
import { readManifests } from '../../../../src/operator/sources/folder/manifest.ts';

const definitions = await loadDefinitions();
const read = (text: string) => readManifests('a.yaml', text, definitions);
const reasons = (text: string) =>
  read(text).flatMap((document) => document.reasons.map(({ line, path, message }) => `${line}: ${path} ${message}`));

const application = (metadata: string) =>
  `apiVersion: tokenkeep.dev/v1alpha1\nkind: Application\nmetadata: ${metadata}\nspec: {type: private}\n`;

describe('reading manifests', () => {
  it('finds each document of a file with its object, and skips those that hold comments only', () => {
    const text = `# nothing\n---\n${application('{name: a}')}---\n---\n${application('{name: b, namespace: shop}')}`;
    const documents = read(text);
    expect(documents.map(({ manifest, line }) => [manifest?.ref.namespace, manifest?.ref.name, line])).to.deep.equal([
      ['default', 'a', 3],
      ['shop', 'b', 9],
    ]);
  });

  for (const name of ['../escape', 'a/b', '..', 'Upper', 'a_b', '-a', 'a'.repeat(64), '1', '[a]']) {
    it(`refuses the name ${name.slice(0, 12)} for an object and its namespace`, () => {
      const label = 'must be 1 to 63 of a-z, 0-9 and "-", and begin and end with a letter or digit';
      expect(reasons(application(`{name: ${name}}`))).to.deep.equal([`3: metadata.name ${label}`]);
      expect(reasons(application(`{name: a, namespace: ${name}}`))).to.deep.equal([`3: metadata.namespace ${label}`]);
    });
  }

  it('refuses an object without a name, and takes one with an empty namespace for one without', () => {
    expect(reasons(application('{}'))).to.have.length(1);
    expect(reasons(application('{name: ""}'))).to.have.length(1);
    for (const namespace of ['""', 'null']) {
      const [document] = read(application(`{name: a, namespace: ${namespace}}`));
      expect(document?.manifest?.ref.namespace).to.equal('default');
    }
  });

  it('refuses other kinds and versions, documents that are no object, and a namespace where none belongs', () => {
    expect(reasons('apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}')[0]).to.match(
      /^2: kind with apiVersion/,
    );
    expect(reasons('apiVersion: tokenkeep.dev/v2\nkind: Tenant\nmetadata: {name: a}')).to.have.length(1);
    expect(reasons('- a\n- b')).to.deep.equal(['1:  must be an object']);
    expect(reasons('just text')).to.deep.equal(['1:  must be an object']);
    const tenant = 'apiVersion: tokenkeep.dev/v1alpha1\nkind: Tenant\nmetadata: {name: a, namespace: b}\nspec: {}';
    expect(reasons(tenant)).to.deep.equal([
      '3: metadata.namespace must be left out: this kind belongs to no namespace',
    ]);
  });

  it('refuses labels and annotations that are not text, and unknown metadata', () => {
    expect(reasons(application('{name: a, labels: {tier: 1}, annotations: [], owner: me}'))).to.have.members([
      '3: metadata.labels.tier must be a string',
      '3: metadata.annotations must be an object',
      '3: metadata.owner is not a known field',
    ]);
  });

  it('refuses labels and annotations that Kubernetes would not take', () => {
    const long = 'a'.repeat(64);
    expect(
      reasons(application(`{name: a, labels: {"a b": x, ${long}: x, x/y/z: x, /y: x, b: "c d", c: ${long}}}`)),
    ).to.have.length(6);
    expect(reasons(application('{name: a, labels: {example.com/Team_1: "", b: null}, annotations: {X.io/y: "a b"}}')))
      .to.be.empty;
    expect(reasons(application('{name: a, annotations: {"a b": x}}'))).to.have.length(1);
    expect(reasons(application(`{name: a, annotations: {a: ${'x'.repeat(262_143)}}}`))).to.be.empty;
    expect(reasons(application(`{name: a, annotations: {a: ${'x'.repeat(262_144)}}}`))).to.have.length(1);
  });

  it('refuses what is not YAML by its line, without quoting it', () => {
    const secret = 'hunter2hunter2';
    const texts = [
      `a: 1\n\tb: ${secret}`,
      `a: 1\na: ${secret}`,
      `a: "${secret}`,
      `a: *${secret}`,
      `a: !${secret} b`,
      `a: b\n ${secret}: [}`,
      `%${secret} x\n---\na: b`,
      `? [${secret}]\n: b`,
    ];
    for (const text of texts) {
      const found = reasons(text);
      expect(found, text).not.to.be.empty;
      expect(found.join(), text).not.to.include(secret);
    }
  });

  it('refuses documents that would grow out of bounds from their anchors', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`,
    );
    expect(reasons(`a0: &a0 [x]\n${levels.join('\n')}`)).to.deep.equal([
      '1:  uses its anchors too often, or refers to one that is not there',
    ]);
  });

  it('gives a document that repeats a field no object, so that what it was keeps its version', () => {
    const [document] = read(`${application('{name: a}')}kind: Tenant\n`);
    expect(document?.manifest).to.be.undefined;
    expect(document?.reasons).to.deep.equal([{ line: 5, path: '', message: 'repeats a field that is already there' }]);
  });
});

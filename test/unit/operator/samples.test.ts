import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createAdmission } from '../../../src/operator/schema/admission.ts';
import { loadDefinitions } from '../../../src/operator/schema/definitions.ts';
import { readManifests } from '../../../src/operator/sources/folder/manifest.ts';
import { RESOURCE_KINDS } from '../../../src/operator/sources/types.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples/', import.meta.url));

describe('the samples', () => {
  it('are valid and show every kind', async () => {
    const definitions = await loadDefinitions();
    const files = await readdir(SAMPLES);
    const texts = await Promise.all(files.map((file) => readFile(SAMPLES + file, 'utf8')));
    const documents = texts.flatMap((text, index) => readManifests(files[index]!, text, definitions));
    for (const { manifest, reasons, file } of documents) {
      expect(reasons, file).to.be.empty;
      const definition = definitions.find(({ kind }) => kind === manifest?.ref.kind)!;
      expect(createAdmission(definition).admit(manifest!.content), file).not.to.have.property('violations');
    }
    expect(new Set(documents.map(({ manifest }) => manifest?.ref.kind))).to.have.keys(...RESOURCE_KINDS);
  });
});

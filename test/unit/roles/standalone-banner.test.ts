import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { banner } from '../../../src/roles/standalone-banner.ts';

describe('the banner of standalone', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tokenkeep-banner-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const bannerOf = (dataDir: string) =>
    banner({
      baseUrl: 'http://127.0.0.1:8080',
      metricsUrl: 'http://127.0.0.1:9090/metrics',
      dataDir,
      manifests: undefined,
    }).join('\n');

  async function makeKeys(dataDir: string, applications: string[]): Promise<void> {
    for (const application of applications) {
      const secret = join(dataDir, 'secrets', 'default', `${application}-api-key`);
      await mkdir(secret, { recursive: true });
      await writeFile(join(secret, 'api-key'), 'key');
    }
  }

  it('names every address, and where keys lie', () => {
    const text = bannerOf(root);
    for (const part of ['http://127.0.0.1:8080/docs', 'http://127.0.0.1:9090/metrics', `${root}/secrets/`]) {
      expect(text).to.include(part);
    }
  });

  it('has requests to try only where the applications of the samples have keys', async () => {
    expect(bannerOf(root)).not.to.include('curl');
    await makeKeys(root, ['collector', 'support']);
    expect(bannerOf(root)).not.to.include('curl');
    await makeKeys(root, ['payments']);
    expect(bannerOf(root).match(/curl/g)).to.have.length(3);
  });

  it('shows paths as they are reached from here, and without any key', async () => {
    await makeKeys(join(root, 'data'), ['collector', 'support', 'payments']);
    const before = process.cwd();
    process.chdir(root);
    try {
      expect(bannerOf(join(process.cwd(), 'data'))).to.include('$(cat data/secrets/default/payments-api-key/api-key)');
    } finally {
      process.chdir(before);
    }
  });

  it('quotes what a shell would take apart', async () => {
    const dataDir = join(root, `it's here`);
    await makeKeys(dataDir, ['collector', 'support', 'payments']);
    expect(bannerOf(dataDir)).to.include(`$(cat '${root}/it'\\''s here/secrets/default/support-api-key/api-key')`);
  });
});

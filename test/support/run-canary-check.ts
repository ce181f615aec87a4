import { expect } from 'chai';
import { administer } from './postgres.ts';
import { hasPlanted, scanRun } from './run-canaries.ts';

/**
 * Fails where a secret of the run's tests is in the clear in what they leave behind: how much was looked through is
 * printed, so that a scan of nothing is noticed.
 */
export async function checkRunCanaries(since: number): Promise<void> {
  if (!hasPlanted()) return;
  const startedAt = performance.now();
  // What is still in memory goes to disk.
  await administer('checkpoint');
  const [row] = await administer(`select current_setting('data_directory') as folder`);
  const { canaries, files, bytes, sightings } = await scanRun({ folders: [String(row!['folder'])], since });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const megabytes = Math.round(bytes / 2 ** 20);
  process.stdout.write(`${canaries} canaries looked for in ${files} files, ${megabytes} MB: ${seconds} s\n`);
  expect(
    sightings.map(({ canary, encoding, place }) => `${canary} (${encoding}) in ${place}`),
    'secrets of tests in the clear',
  ).to.deep.equal([]);
}

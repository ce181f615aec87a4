import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runDemo } from './demo/run.ts';

// An option lets tests declare something else than what the story expects.
const { values } = parseArgs({ options: { manifests: { type: 'string' } } });
const samples = fileURLToPath(new URL('../../config/samples', import.meta.url));

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort());

process.exitCode = await runDemo({ manifests: values.manifests ?? samples, signal: interrupted.signal });

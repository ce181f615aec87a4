import { installToxiproxy } from './toxiproxy-program.ts';
import { installTransitServer } from './transit-server.ts';

// Best effort: the tests of what is missing then are skipped and say so, or fail with CI=true.
for (const [name, install] of Object.entries({ OpenBao: installTransitServer, toxiproxy: installToxiproxy })) {
  try {
    await install();
  } catch (error) {
    process.stderr.write(`NOT INSTALLED: ${name}: ${(error as Error).message}\n`);
  }
}

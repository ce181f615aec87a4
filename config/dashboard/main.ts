import { buildDashboard } from './dashboard.ts';

process.stdout.write(`${JSON.stringify(buildDashboard(), null, 2)}\n`);

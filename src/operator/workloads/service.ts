import { labelsOf, selectorOf, workloadName } from './names.ts';
import type { ReactorName } from './names.ts';
import { partOf, withDigest } from './parts.ts';
import type { Part } from './parts.ts';
import { SERVICE_PORT } from './pod.ts';

/** Headless: the API picks among instances itself. It tells people and tools which pods there are. */
export function buildService(reactor: ReactorName): Part {
  return withDigest({
    ...partOf('Service', workloadName(reactor), labelsOf(reactor)),
    spec: {
      clusterIP: 'None',
      selector: selectorOf(reactor),
      ports: [{ name: 'https', port: SERVICE_PORT, protocol: 'TCP', targetPort: 'https' }],
    },
  });
}

import type { ReactorDeclaration } from '../../domain/declarations.ts';
import { parseMemoryBytes } from '../durations.ts';
import type { ReactorResource } from '../kinds/reactor.ts';

/** What a Reactor refers to, looked up. */
export interface ReactorParts {
  code: string;
  configuration: Record<string, string>;
  applicationId?: string;
}

/** What the API is asked to hold for a Reactor. */
export function buildReactorDeclaration({ metadata, spec }: ReactorResource, parts: ReactorParts): ReactorDeclaration {
  const { engine, ...scaling } = spec.scaling;
  return {
    name: spec.displayName ?? metadata.name,
    ...parts,
    timeoutSeconds: spec.timeoutSeconds,
    scaling: engine === 'Builtin' ? scaling : { ...scaling, engine },
    memoryBytes: parseMemoryBytes(spec.resources.limits.memory),
    ...(spec.egress === undefined ? {} : { egress: spec.egress }),
  };
}

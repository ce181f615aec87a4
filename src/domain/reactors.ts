import type { ReactorScaling } from './declarations.ts';

/** Code that runs on plaintext. */
export interface Reactor {
  tenantId: string;
  id: string;
  name: string;
  code: string;
  configuration: Record<string, string>;
  /** The application in whose name the code's `svc` acts. */
  applicationId: string | null;
  timeoutSeconds: number;
  scaling: ReactorScaling;
  /** Memory of one instance, in bytes. */
  memoryBytes: number;
  /** Changes whenever code, configuration or limits do. */
  revision: string;
  createdBy: string | null;
  createdAt: Date;
  modifiedBy: string | null;
  modifiedAt: Date | null;
}

/** One of which what is stored of code and configuration is damaged, so that neither is shown or run. */
export interface DamagedReactor extends Omit<Reactor, 'code' | 'configuration'> {
  damaged: true;
}

/** Limits of one reactor and of one invocation (interface, section 8.3; choices, section 6). */
export const REACTOR_LIMITS = {
  nameLength: 200,
  codeLength: 50_000,
  configurationEntries: 25,
  configurationValueLength: 4_000,
  tokensPerInvocation: 100,
  /** Of the arguments as the code gets them, as JSON text in UTF-8. */
  payloadBytes: 1024 * 1024,
} as const;

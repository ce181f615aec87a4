import type { ReactorScaling } from './declarations.ts';
import type { EgressPolicy } from './egress.ts';

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
  /** Where the code may send requests; null: to every public address. */
  egress: EgressPolicy | null;
  /** Changes whenever code, configuration, limits or egress do. */
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

/** Limits of one reactor and of one invocation (interface, section 8.3; choices, section 6). Lengths: `lengthOf`. */
export const REACTOR_LIMITS = {
  nameLength: 200,
  codeLength: 50_000,
  configurationEntries: 25,
  configurationValueLength: 10_000,
  /** Of JSON that describes a reactor: all of the above in full, each character as two `\uXXXX`, so 12 bytes. */
  documentBytes: 4 * 1024 * 1024,
  /** Longest that the code may take for a caller who waits, in seconds. */
  timeoutSeconds: 30,
  /**
   * When a caller who waits is answered at the latest, in seconds: the wait for an instance and the code together.
   * Nothing but storing what the code wants tokenized comes after.
   */
  answerSeconds: 30,
  /** Longest that the code may take where nobody waits for it, whatever its own timeout, in seconds. */
  asynchronousTimeoutSeconds: 300,
  tokensPerInvocation: 100,
  /** Of the arguments as the code gets them, as JSON text in UTF-8. */
  payloadBytes: 1024 * 1024,
} as const;

/** In characters as Kubernetes and JSON Schema count them: code points, so that an emoji is one. */
export function lengthOf(text: string): number {
  return [...text].length;
}

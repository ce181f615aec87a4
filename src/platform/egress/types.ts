export interface EgressTarget {
  readonly protocol: 'http:' | 'https:';
  /** Lower case, punycode, without a dot at the end; an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Where requests may go. */
export interface EgressRules {
  /** The test that every address of the target has to pass, or why there is none that could. */
  admit(target: EgressTarget): ((address: string) => boolean) | 'scheme' | 'host' | 'port';
}

export interface EgressRequest {
  method: string;
  url: string;
  headers: readonly (readonly [name: string, value: string])[];
  body?: Buffer;
  /** Of everything together: names, connections, redirects and the whole answer, in ms. */
  timeoutMs: number;
  /** `follow`: each hop passes the rules again. `error`: an answer that leads elsewhere is a failure. */
  redirect: 'manual' | 'error' | 'follow';
  /** Breaks the request off. */
  signal?: AbortSignal;
  /** Asked before so many more bytes of an answer are kept, as they come; false: 'too-large'. */
  hold?: (bytes: number) => boolean;
}

export interface EgressAnswer {
  /** Of the last hop. */
  url: string;
  status: number;
  statusText: string;
  /** Names in lower case, in the order that they came in. */
  headers: [name: string, value: string][];
  /** Decompressed. */
  body: Buffer;
  redirected: boolean;
}

export interface EgressOptions {
  rules: EgressRules;
  /** Of one answer, as it comes and decompressed, in bytes. Default: 1 MiB. */
  maxBytes?: number;
  /** Default: as the machine resolves names. */
  resolve?: (host: string) => Promise<readonly string[]>;
  /**
   * Addresses that are let through whatever the rules say of addresses. Of the process that runs this alone, as for
   * listeners of a test: nothing that a user writes may reach it.
   */
  allowAddress?: (address: string, host: string, port: number) => boolean;
  /** Certificates to trust in place of the well-known ones. */
  ca?: string | Buffer;
}

export interface EgressClient {
  /** Sends a request and takes its whole answer. Rejects with an EgressError. */
  request(request: EgressRequest): Promise<EgressAnswer>;
}

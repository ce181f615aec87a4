/** What `kubectl tokenkeep` is asked for. */
export interface PluginOptions {
  readonly command: string;
  readonly names: readonly string[];
  readonly kubeconfigs: { readonly files: readonly string[]; readonly areGiven: boolean };
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly output: 'table' | 'wide' | 'json' | 'yaml';
  readonly systemNamespace: string;
  readonly reactorNamespace: string | undefined;
  readonly application: string | undefined;
  readonly apiKey: string | undefined;
  readonly url: string | undefined;
  /** Path; undefined for standard input. */
  readonly dataFile: string | undefined;
  readonly follow: boolean;
  readonly tailLines: number | undefined;
  readonly file: string | undefined;
  /** Flags for the program in the pod. */
  readonly passed: readonly string[];
}

/** Where a command tells of its work; each takes a line. */
export interface Terminal {
  /** What was asked for, on standard output. */
  readonly write: (line: string) => void;
  /** What else there is to say, on standard error. */
  readonly report: (line: string) => void;
}

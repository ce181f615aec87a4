/** What is known of one piece of work, besides when it began and ended. Never data, and of tokens no ids. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One piece of work in a trace. */
export interface Span {
  /** 32 hex digits; undefined where nothing is traced. */
  readonly traceId: string | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. What `work` throws marks it already. */
  fail(): void;
}

export interface Part {
  /** From a closed set, like a metric's labels. */
  readonly name: string;
  /** Whether it is a call of another program. Default: it is. */
  readonly isCall?: boolean;
  readonly attributes?: SpanAttributes;
}

/** Tells a collector of traces where the time of requests goes. */
export interface Tracing {
  /** The request of another program, whose trace goes on here where its headers name one (W3C Trace Context). */
  request<Result>(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    name: string,
    work: (span: Span) => Promise<Result>,
  ): Promise<Result>;
  /** A part of the request in whose course it is called; of no request, only the work. */
  part<Result>(part: Part, work: (span: Span) => Promise<Result>): Promise<Result>;
  /** Headers that let another program go on with the trace; none where there is no trace. */
  headers(): Readonly<Record<string, string>>;
}

/** Of what is not traced. */
export const NO_SPAN: Span = {
  traceId: undefined,
  rename: () => undefined,
  set: () => undefined,
  fail: () => undefined,
};

/** Traces nothing. */
export const noTracing: Tracing = {
  request: (_headers, _name, work) => work(NO_SPAN),
  part: (_part, work) => work(NO_SPAN),
  headers: () => ({}),
};

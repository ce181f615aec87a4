import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { decodeMessage, messagesAt, numberAt, textAt, type Message } from './protobuf.ts';

/** As opentelemetry/proto/trace/v1/trace.proto has it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first one of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failed: boolean;
  /** Of the process. */
  readonly resource: Readonly<Record<string, string | number | boolean>>;
}

/** A collector that takes traces by OTLP over HTTP, and keeps them. */
export interface TestCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that was sent, as it came. */
  readonly received: () => Buffer;
  close(): Promise<void>;
}

const KINDS = ['other', 'internal', 'server', 'client'] as const;
const FAILED = 2;

export async function startCollector(): Promise<TestCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((sent) => {
      const isTraces = request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
      if (!isTraces) return response.writeHead(415).end();
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      bodies.push(body);
      spans.push(...spansOf(decodeMessage(body)));
      return response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    received: () => Buffer.concat(bodies),
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

function spansOf(request: Message): CollectedSpan[] {
  return messagesAt(request, 1).flatMap((ofResource) => {
    const [described] = messagesAt(ofResource, 1);
    const resource = described === undefined ? {} : attributesOf(described, 1);
    return messagesAt(ofResource, 2).flatMap((ofScope) =>
      messagesAt(ofScope, 2).map((span) => ({
        traceId: textAt(span, 1, 'hex'),
        spanId: textAt(span, 2, 'hex'),
        parentId: textAt(span, 4, 'hex'),
        name: textAt(span, 5),
        kind: KINDS[numberAt(span, 6)] ?? 'other',
        attributes: attributesOf(span, 9),
        failed: messagesAt(span, 15).some((status) => numberAt(status, 3) === FAILED),
        resource,
      })),
    );
  });
}

function attributesOf(message: Message, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    messagesAt(message, field).map((pair) => {
      const [value] = messagesAt(pair, 2);
      if (value === undefined) return [textAt(pair, 1), ''];
      if (value.has(1)) return [textAt(pair, 1), textAt(value, 1)];
      return [textAt(pair, 1), value.has(2) ? numberAt(value, 2) === 1 : numberAt(value, 3)];
    }),
  );
}

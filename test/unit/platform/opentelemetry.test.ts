import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createOpenTelemetry, type OpenTelemetry } from '../../../src/platform/opentelemetry.ts';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

describe('traces to a collector that', () => {
  const given = process.env[ENDPOINT];
  let failures: number;
  beforeEach(() => {
    failures = 0;
  });
  afterEach(() => {
    if (given === undefined) delete process.env[ENDPOINT];
    else process.env[ENDPOINT] = given;
  });

  function start(port: number): OpenTelemetry {
    // The exporter itself reads it.
    process.env[ENDPOINT] = `http://127.0.0.1:${port}`;
    return createOpenTelemetry({
      ...{ service: 'test', version: '0', sampling: { ratio: 1, parentBased: true } },
      onFailure: () => void (failures += 1),
    });
  }

  async function withCollector(status: number | undefined, work: (port: number) => Promise<void>): Promise<void> {
    const server = createServer((request, response) => {
      request.resume();
      if (status !== undefined) response.writeHead(status).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await work((server.address() as AddressInfo).port);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  it('refuses them: that is told, and no request fails', () =>
    withCollector(400, async (port) => {
      const tracing = start(port);
      expect(await tracing.request({}, 'one', async () => 'done')).to.equal('done');
      await tracing.stop();
      expect(failures).to.equal(1);
    }));

  it('hangs: stopping does not', () =>
    withCollector(undefined, async (port) => {
      const tracing = start(port);
      await tracing.request({}, 'one', async () => undefined);
      const beganAt = performance.now();
      await tracing.stop();
      expect(performance.now() - beganAt).to.be.below(4_000);
    }));

  it('takes them: nothing is told; a failure stays one', () =>
    withCollector(200, async (port) => {
      const tracing = start(port);
      const error = new Error('of the work');
      const work = tracing.request({}, 'one', () => tracing.part({ name: 'two' }, () => Promise.reject(error)));
      expect(await work.catch((thrown: unknown) => thrown)).to.equal(error);
      await tracing.stop();
      expect(failures).to.equal(0);
    }));
});

import { expect } from 'chai';
import { createLogger, silentLogger } from '../../../src/platform/logger.ts';
import { createShutdownStack } from '../../../src/platform/shutdown.ts';

describe('shutdown stack', () => {
  it('closes what was started last first, one after the other', async () => {
    const order: string[] = [];
    const stack = createShutdownStack({ logger: silentLogger });
    stack.push('database', () => void order.push('database'));
    stack.push('server', async () => {
      await Promise.resolve();
      order.push('server');
    });
    await stack.run();
    expect(order).to.deep.equal(['server', 'database']);
  });

  it('goes on after a closer that fails, and logs it by name', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void lines.push(line) },
    });
    let closed = false;
    const stack = createShutdownStack({ logger });
    stack.push('database', () => void (closed = true));
    stack.push('server', () => {
      throw new Error('broken');
    });
    await stack.run();
    expect(closed).to.equal(true);
    expect(lines.join('')).to.include('"closer":"server"').and.include('broken');
  });

  it('starts all the rest once its deadline has passed', async () => {
    const started: string[] = [];
    const stack = createShutdownStack({ logger: silentLogger, deadlineMs: 20 });
    for (const name of ['first', 'second', 'third']) {
      stack.push(name, () => {
        started.push(name);
        return new Promise(() => undefined);
      });
    }
    await stack.run();
    expect(started).to.deep.equal(['third', 'second', 'first']);
  });

  it('runs once, however often it is asked to', async () => {
    let times = 0;
    const stack = createShutdownStack({ logger: silentLogger });
    stack.push('server', () => void times++);
    await Promise.all([stack.run(), stack.run()]);
    expect(times).to.equal(1);
  });
});

import { expect } from 'chai';
import { createHealth } from '../../../src/platform/health.ts';

describe('health', () => {
  it('is ready while every check passes', async () => {
    const health = createHealth();
    health.addCheck('database', async () => undefined);
    expect(await health.readiness()).to.deep.equal({ ready: true, failures: [], degraded: [] });
  });

  it('names every check that fails', async () => {
    const health = createHealth();
    health.addCheck('database', () => Promise.reject(new Error('down')));
    health.addCheck('keys', async () => undefined);
    health.addCheck('manifests', () => Promise.reject(new Error('not yet')));
    expect(await health.readiness()).to.deep.equal({
      ready: false,
      failures: ['database', 'manifests'],
      degraded: [],
    });
  });

  it('is ready, and names what is degraded, while a check says so', async () => {
    const health = createHealth();
    health.addCheck('database', async () => undefined);
    health.addCheck('keys', async () => 'degraded');
    expect(await health.readiness()).to.deep.equal({ ready: true, failures: [], degraded: ['keys'] });
  });

  it('names what is degraded beside what fails', async () => {
    const health = createHealth();
    health.addCheck('database', () => Promise.reject(new Error('down')));
    health.addCheck('keys', async () => 'degraded');
    expect(await health.readiness()).to.deep.equal({ ready: false, failures: ['database'], degraded: ['keys'] });
  });

  it('counts a check that throws before it returns as failed', async () => {
    const health = createHealth();
    health.addCheck('keys', () => {
      throw new Error('broken');
    });
    expect((await health.readiness()).failures).to.deep.equal(['keys']);
  });

  it('does not wait longer than its timeout for a check', async () => {
    const health = createHealth({ checkTimeoutMs: 10 });
    health.addCheck('database', () => new Promise(() => undefined));
    expect((await health.readiness()).failures).to.deep.equal(['database']);
  });

  it('is not ready once it drains, whatever the checks say', async () => {
    const health = createHealth();
    health.addCheck('database', async () => undefined);
    health.drain();
    expect(health.draining).to.equal(true);
    expect(await health.readiness()).to.deep.equal({ ready: false, failures: ['draining'], degraded: [] });
  });

  it('asks its checks once for all who want to know within half a second', async () => {
    let [now, asked] = [0, 0];
    const health = createHealth({ clock: { now: () => now } });
    health.addCheck('database', async () => {
      asked++;
    });
    await Promise.all([health.readiness(), health.readiness()]);
    now = 499;
    await health.readiness();
    expect(asked).to.equal(1);
    now = 500;
    await health.readiness();
    expect(asked).to.equal(2);
  });

  it('drains at once, whatever was found out before', async () => {
    const health = createHealth();
    health.addCheck('database', async () => undefined);
    await health.readiness();
    const asked = health.readiness();
    health.drain();
    expect((await asked).failures).to.deep.equal(['draining']);
  });

  it('refuses two checks of one name', () => {
    const health = createHealth();
    health.addCheck('database', async () => undefined);
    expect(() => health.addCheck('database', async () => undefined)).to.throw('database');
  });
});

import { expect } from 'chai';
import { TOLD_FLAGS } from '../../../../src/cli/kubectl/report/kept-arguments.ts';
import { createRedaction } from '../../../../src/cli/kubectl/report/redaction.ts';
import { apiSettings } from '../../../../src/config/api.ts';
import { migrateSettings } from '../../../../src/config/migrate.ts';
import { operatorSettings } from '../../../../src/config/operator.ts';
import { reactorSettings } from '../../../../src/config/reactor.ts';

const DIGEST = /^redacted:[a-p]{10}:\d+$/;

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { name: string; value: string }[];
  readonly livenessProbe?: object;
}

const podOf = (container: Container) => ({ kind: 'Pod', spec: { containers: [container] } });

function shownArguments(container: Container, kind: 'Pod' | 'Deployment' = 'Pod'): readonly string[] {
  const pod = podOf(container);
  const object = kind === 'Pod' ? pod : { kind, spec: { template: pod } };
  const redaction = createRedaction();
  redaction.learn([object]);
  const [shown] = redaction.objects([object]) as [typeof object];
  const { spec } = 'template' in shown.spec ? shown.spec.template : (shown as typeof pod);
  return spec.containers[0]!.args;
}

describe('redaction of arguments in a report', () => {
  for (const kind of ['Pod', 'Deployment'] as const) {
    it(`tells the flags of the vault’s own containers that hold a number or a word of a list, in a ${kind}`, () => {
      const args = ['api', '--port=8080', '--vault-timeout=2s', '--log-level=debug', '--ip-rate-limits=off'];
      expect(shownArguments({ name: 'api', args: [...args, '--vault-allow-http'] }, kind)).to.deep.equal([
        ...args,
        '--vault-allow-http',
      ]);
    });
  }

  it('tells the role of each', () => {
    for (const name of ['api', 'operator', 'reactor', 'migrate']) {
      expect(shownArguments({ name, args: [name] })).to.deep.equal([name]);
    }
  });

  it('tells the name alone of a flag of theirs that may hold anything', () => {
    const [, ...shown] = shownArguments({
      name: 'api',
      args: ['api', '--database-url=postgres://api:x@db/vault', '--vault-role-id=1234', '--made-up=123456'],
    });
    const names = ['--database-url=', '--vault-role-id=', '--made-up='];
    expect(shown.map((each) => each.slice(0, each.indexOf('=') + 1))).to.deep.equal(names);
    for (const each of shown) expect(each.slice(each.indexOf('=') + 1)).to.match(DIGEST);
  });

  it('tells no value that its flag cannot have, and none that stands by itself', () => {
    const args = ['api', '--port=hunter', '--log-level=hunter', '--trusted-proxies', '123456', 'hunter', '--hunter'];
    const [, ...shown] = shownArguments({ name: 'api', args });
    expect(shown.join(' ')).to.not.match(/hunter|123456/);
  });

  const strangers: Record<string, Container> = {
    'of another name': { name: 'redis', args: ['--requirepass', 'hunter', '--pin=123456', '--password=1234'] },
    'of another program': { name: 'api', args: ['serve', '--port=8080', '--pin=123456', '--log-level=debug'] },
    'of a role of another name': { name: 'sidecar', args: ['api', '--port=8080'] },
  };
  for (const [what, container] of Object.entries(strangers)) {
    it(`tells none of a container ${what}`, () => {
      for (const shown of shownArguments(container)) expect(shown).to.match(DIGEST);
    });
  }

  it('knows flags of the vault alone, and each whose value is one of a list or a number', () => {
    const readers = [apiSettings, operatorSettings, reactorSettings, migrateSettings];
    const settings = readers.flatMap((reader) => Object.values(reader.settings));
    const closed = ['PORT', 'DURATION', 'AGE', 'SECONDS', 'N', 'LEVEL', 'FORMAT', 'METHOD', 'on|off'];
    const flags = settings
      .filter(({ variable, placeholder }) => variable === undefined && closed.includes(placeholder))
      .map(({ flag }) => flag);
    expect([...TOLD_FLAGS].toSorted()).to.deep.equal([...new Set(flags)].toSorted());
  });

  describe('and of what else a container is given', () => {
    const redaction = createRedaction();
    redaction.learn([
      podOf({
        name: 'redis',
        args: ['--requirepass', 'hunter', '--pin=123456', '--level=info', '-x'],
        env: [
          { name: 'REDIS_PASSWORD', value: 'hunter2' },
          { name: 'LOG', value: 'debug' },
          { name: 'PORT', value: '4000' },
        ],
        livenessProbe: { exec: { command: ['redis-cli', '-a', 'pa$s', 'ping'] } },
      }),
      { kind: 'Reactor', spec: { configuration: { pin: '98765' } } },
    ]);

    for (const secret of ['hunter2', '123456', '98765', 'pa$s', '--requirepass', '--pin=123456']) {
      it(`finds ${secret} in texts`, () => {
        for (const text of [`is ${secret} not`, `a:${secret}@b`, `{"a":"${secret}"}`, `"first\\n${secret}\\n"`]) {
          expect(redaction.text(text), text)
            .to.match(/redacted:[a-p]{10}:\d+/)
            .and.not.include(secret);
        }
      });
    }

    for (const harmless of [
      'hunters hunt2 a1234567',
      'hunter {"level":"debug"} ping',
      '5e9d2a64-0000-4000-8000-000000000001',
      '/var/x-ray',
    ]) {
      it(`leaves ${harmless}`, () => expect(redaction.text(harmless)).to.equal(harmless));
    }
  });
});

import { expect } from 'chai';
import { readCommand } from '../../../src/config/command.ts';
import type { Command } from '../../../src/config/command.ts';

function text(command: Command): string {
  expect(command.action).to.equal('print');
  return command.action === 'print' ? command.text : '';
}

function faults(command: Command): readonly string[] {
  expect(command.action).to.equal('refuse');
  return command.action === 'refuse' ? command.faults : [];
}

describe('command line', () => {
  it('lists the commands for --help', () => {
    for (const argument of ['--help', '-h', 'help']) {
      expect(text(readCommand([argument], {}))).to.match(
        /standalone .*\n.*api .*\n.*operator .*\n.*migrate .*\n.*reactor .*\n.*status /,
      );
    }
  });

  it('lists flags and defaults of a role for --help, whatever else is wrong', () => {
    const help = text(readCommand(['standalone', '--port', 'x', '--help'], { TOKENKEEP_HOST: '' }));
    expect(help).to.include('--header-prefixes LIST').and.include('(default 8080)');
    expect(text(readCommand(['migrate', '--help'], {})))
      .to.include('--database-url URL')
      .and.include('(required)');
  });

  it('prints the version of the package', () => {
    expect(text(readCommand(['--version'], {}))).to.match(/^\d+\.\d+\.\d+/);
  });

  it('refuses no command, and names those there are', () => {
    expect(faults(readCommand([], {}))[0]).to.include('standalone, api, operator, migrate, reactor, status');
  });

  it('refuses an unknown command, and suggests the nearest', () => {
    expect(faults(readCommand(['standalon'], {}))).to.deep.equal([
      'argument 1: unknown command (did you mean standalone?)',
    ]);
    expect(faults(readCommand(['constructor'], {}))[0]).to.include('unknown command');
  });

  it('refuses flags before the command', () => {
    expect(faults(readCommand(['--port', '1', 'standalone'], {}))[0]).to.include('flags follow a command');
  });

  it('runs the reactor role without settings, and refuses those of pods then', () => {
    const command = readCommand(['reactor'], {});
    expect(command).to.deep.include({ action: 'run', role: 'reactor' });
    const { config } = command as Extract<Command, { action: 'run' }>;
    expect(Object.values(config).filter((value) => value !== undefined)).to.deep.equal([false]);
    expect(faults(readCommand(['reactor', '--port', '1'], {}))).to.deep.equal([
      '--port (TOKENKEEP_PORT): needs --workload-file or --check',
    ]);
  });

  it('needs a database URL to migrate', () => {
    expect(faults(readCommand(['migrate'], {}))).to.deep.equal([
      '--database-url (TOKENKEEP_DATABASE_URL): must be given',
    ]);
    const databaseUrl = 'postgres://u:p@h/d';
    expect(readCommand(['migrate'], { TOKENKEEP_DATABASE_URL: databaseUrl })).to.deep.include({
      config: { databaseUrl, logLevel: 'info', logFormat: 'json' },
    });
  });

  it('accepts the variables of other roles', () => {
    expect(readCommand(['status'], { TOKENKEEP_PORT: '1', TOKENKEEP_DATA_DIR: '/nowhere' })).to.deep.equal({
      action: 'run',
      role: 'status',
      config: { dataDir: '/nowhere' },
    });
  });
});

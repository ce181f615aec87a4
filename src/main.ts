import { readCommand } from './config/command.ts';
import type { Command } from './config/command.ts';
import { keepMemoryOutOfCoreFiles } from './platform/core-dumps.ts';
import { createLogger } from './platform/logger.ts';
import type { Logger } from './platform/logger.ts';

type RunCommand = Extract<Command, { action: 'run' }>;

/** A role at work. */
interface Running {
  /** Finishes what is in flight. */
  stop(): Promise<void>;
  /** The process's exit code, once the role ends by itself; rejects when it cannot go on. */
  readonly finished: Promise<number>;
}

/** Between the first signal and the exit; the roles' own deadline is shorter. */
const STOP_DEADLINE_MS = 9_800;
/** A terminal's Ctrl-C reaches both the launcher, which passes it on, and this process: the two count as one. */
const SAME_SIGNAL_MS = 500;

async function main(): Promise<void> {
  keepMemoryOutOfCoreFiles();
  const command = readCommand(process.argv.slice(2));
  if (command.action === 'print') {
    write(command.text);
  } else if (command.action === 'refuse') {
    for (const fault of command.faults) complain(fault);
    complain('`tokenkeep --help` lists the commands, `tokenkeep <command> --help` their flags');
    process.exit(2);
  } else {
    await run(command);
  }
}

async function run(command: RunCommand): Promise<void> {
  const logger = loggerOf(command);
  const starting = start(command, logger);
  let stoppingSince: number | undefined;

  const stop = async (code: number): Promise<void> => {
    if (stoppingSince !== undefined) return;
    stoppingSince = Date.now();
    setTimeout(() => {
      logger.error({ deadlineMs: STOP_DEADLINE_MS }, 'Stopping took too long');
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    try {
      await (await starting).stop();
      process.exit(code);
    } catch (error) {
      logger.error({ error }, 'Stopping failed');
      process.exit(1);
    }
  };
  const stopOnSignal = (): void => {
    if (stoppingSince !== undefined && Date.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
    void stop(0);
  };
  const stopOnError = (error: unknown): void => {
    logger.error({ error }, 'Process ended by an unhandled error');
    void stop(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stopOnSignal);
  process.on('uncaughtException', stopOnError);
  process.on('unhandledRejection', stopOnError);
  followParent(stopOnSignal);

  let running: Running;
  try {
    running = await starting;
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    logger.debug({ error }, 'Start failed');
    process.exit(1);
  }
  try {
    const code = await running.finished;
    if (stoppingSince === undefined) process.exit(code);
  } catch (error) {
    logger.error({ error }, 'Process could not go on');
    await stop(1);
  }
}

/** Only the chosen role is loaded: a process that runs customer code never holds the code that reads tokens. */
async function start(command: RunCommand, logger: Logger): Promise<Running> {
  switch (command.role) {
    case 'standalone': {
      const { startStandalone } = await import('./roles/standalone.ts');
      const vault = await startStandalone(command.config, { write, logger });
      return { stop: () => vault.stop(), finished: vault.failed.then((error: Error) => Promise.reject(error)) };
    }
    case 'reactor': {
      const { startReactor } = await import('./roles/reactor.ts');
      const reactor = await startReactor();
      return { stop: () => reactor.stop(), finished: reactor.finished.then(() => 0) };
    }
    case 'migrate': {
      const { runMigrate } = await import('./roles/migrate.ts');
      await runMigrate(command.config, { write, logger });
      return ended(0);
    }
    case 'status': {
      const { printStatus } = await import('./cli/status.ts');
      return ended(await printStatus(command.config.dataDir, write));
    }
    case 'keys status': {
      const { keysStatus } = await import('./roles/keys.ts');
      return ended(await keysStatus(command.config, { write, report, logger }));
    }
    case 'keys rotate': {
      const { rotateKeys } = await import('./roles/keys.ts');
      return ended(await rotateKeys(command.config, { write, report, logger }));
    }
    case 'keys rewrap': {
      const { rewrapKeys } = await import('./roles/keys.ts');
      return ended(await rewrapKeys(command.config, { write, report, logger }));
    }
    case 'keys import': {
      const { importKeys } = await import('./roles/keys.ts');
      return ended(await importKeys(command.config, { write, report, logger }));
    }
    case 'audit verify': {
      const { runAuditVerify } = await import('./roles/audit-verify.ts');
      return ended(await runAuditVerify(command.config, { write, progress: report, logger }));
    }
  }
}

function ended(code: number): Running {
  return { stop: async () => undefined, finished: Promise.resolve(code) };
}

function loggerOf({ config }: RunCommand): Logger {
  const level = 'logLevel' in config ? config.logLevel : 'info';
  const format = 'logFormat' in config ? config.logFormat : 'json';
  return createLogger({ level, format });
}

/** A parent that holds a channel to this process wants it to end when itself does, however that ends. */
function followParent(stop: () => void): void {
  if (process.channel === undefined) return;
  process.once('disconnect', stop);
  process.channel.unref();
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`tokenkeep: ${line}\n`);
}

await main();

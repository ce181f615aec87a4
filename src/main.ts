import { constants } from 'node:os';
import { readCommand } from './config/command.ts';
import type { Command } from './config/command.ts';
import { keepMemoryOutOfCoreFiles } from './platform/core-dumps.ts';
import { createLogger } from './platform/logger.ts';
import type { Logger } from './platform/logger.ts';

type RunCommand = Extract<Command, { action: 'run' }>;

/**
 * They serve until a signal says that it is enough, and have then done what they are for. Any other is a command that
 * ends by itself; one that is interrupted has not done it.
 */
const SERVERS: readonly RunCommand['role'][] = ['standalone', 'api', 'operator', 'reactor'];

/** A role at work. */
interface Running {
  /** Finishes what is in flight. */
  stop(): Promise<void>;
  /** The process's exit code, once the role ends by itself; rejects when it cannot go on. */
  readonly finished: Promise<number>;
  /** What stopping may take where that is not STOP_DEADLINE_MS, in ms. */
  readonly stopMs?: number;
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

  const giveUp = (deadlineMs: number): never => {
    logger.error({ deadlineMs }, 'Stopping took too long');
    process.exit(1);
  };
  const isServer = SERVERS.includes(command.role);
  const stop = async (code: number): Promise<void> => {
    // A command may be killed at any point, and the next run goes on from there: nothing is worth waiting for.
    if (!isServer) process.exit(code);
    if (stoppingSince !== undefined) return;
    stoppingSince = Date.now();
    let timer = setTimeout(giveUp, STOP_DEADLINE_MS, STOP_DEADLINE_MS).unref();
    try {
      const role = await starting;
      if (role.stopMs !== undefined) {
        clearTimeout(timer);
        timer = setTimeout(giveUp, role.stopMs, role.stopMs).unref();
      }
      await role.stop();
      process.exit(code);
    } catch (error) {
      logger.error({ error }, 'Stopping failed');
      process.exit(1);
    }
  };
  const stopOnSignal = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined && Date.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
    // As a shell tells of a program that a signal has ended.
    void stop(isServer ? 0 : 128 + constants.signals[signal]);
  };
  const stopOnError = (error: unknown): void => {
    logger.error({ error }, 'Process ended by an unhandled error');
    void stop(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stopOnSignal);
  process.on('uncaughtException', stopOnError);
  process.on('unhandledRejection', stopOnError);
  followParent(() => stopOnSignal('SIGHUP'));

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
    case 'api': {
      const { startApiServer } = await import('./roles/api-server.ts');
      const api = await startApiServer(command.config, { write, logger });
      return { stop: () => api.stop(), finished: new Promise(() => undefined), stopMs: api.stopMs };
    }
    case 'operator': {
      const { startOperatorRole } = await import('./roles/operator.ts');
      const operator = await startOperatorRole(command.config, { write, logger });
      return { stop: () => operator.stop(), finished: operator.finished };
    }
    case 'reactor': {
      if (command.config.workloadFile !== undefined || command.config.check) {
        const { startReactorPod } = await import('./roles/reactor-pod.ts');
        return startReactorPod(command.config, logger);
      }
      const { startReactor } = await import('./roles/reactor.ts');
      const reactor = await startReactor();
      return { stop: () => reactor.stop(), finished: reactor.finished.then(() => 0), stopMs: reactor.stopMs };
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
    case 'kubectl': {
      const { runPlugin } = await import('./cli/kubectl/run.ts');
      return ended(await runPlugin(command.config, { write, report }));
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
  // Of a pod of a reactor, what happens to the code is all that it has to say.
  const isPod = 'workloadFile' in config && (config.workloadFile !== undefined || config.check);
  return createLogger({ level, format, ...(isPod ? { destination: process.stdout } : {}) });
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

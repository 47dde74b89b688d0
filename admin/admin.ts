import type { Command } from 'commander';
import { visibleText } from '../client/command/terminal/visible-text.ts';
import { connect, connectIfRunning, type Target } from './connect.ts';
import { createOutput, type Output } from '../client/command/terminal/output.ts';
import { OperatorError } from './operator-error.ts';
import type { OperatorServices } from './services.ts';

/** The services and the output of one command. */
export interface Session {
  readonly services: OperatorServices;
  readonly output: Output;
  /** Sets exit code 1 for a command that did its work and found something wrong. */
  readonly fail: () => void;
  /** Prints a line of progress on standard error. */
  readonly tell: (line: string) => void;
}

export interface Admin {
  /** Wraps the work of a command. The connection opens when the command runs, before its work. */
  run<Arguments extends readonly unknown[]>(
    work: (session: Session, ...given: Arguments) => Promise<void> | void,
  ): (...given: Arguments) => Promise<void>;
  /** Wraps the work of a command that can do without a service. */
  runAnyway<Arguments extends readonly unknown[]>(
    work: (
      session: Partial<Pick<Session, 'services'>> & Omit<Session, 'services'>,
      ...given: Arguments
    ) => Promise<void>,
  ): (...given: Arguments) => Promise<void>;
}

/** The output streams of a command. */
export interface Console {
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
  /** How wide the terminal is. Absent: the output goes to no terminal. */
  readonly columns?: number | undefined;
  /** Sets exit code 1. */
  readonly fail: () => void;
}

export function createAdmin(program: Command, { print, complain, columns, fail }: Console): Admin {
  const options = (): { json?: boolean; data: string; stack?: string } => program.opts();
  const target = (): Target => {
    const { data, stack } = options();
    if (stack !== undefined && program.getOptionValueSource('data') === 'cli')
      throw new OperatorError('--data and --stack exclude each other: name the folder or the stack.');
    return { data, ...(stack !== undefined && { stack }) };
  };
  const session = (): Omit<Session, 'services'> => ({
    output: createOutput(options().json === true, print, undefined, columns),
    fail,
    tell: (line) => complain(visibleText(line)),
  });
  return {
    run:
      (work) =>
      async (...given) => {
        const services = await connect(target());
        await work({ services, ...session() }, ...given);
      },
    runAnyway:
      (work) =>
      async (...given) => {
        const services = await connectIfRunning(target());
        await work({ ...(services && { services }), ...session() }, ...given);
      },
  };
}

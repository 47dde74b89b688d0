import type { Command } from 'commander';
import { visibleText } from '../terminal/visible-text.ts';
import { connect } from './connect.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import type { OperatorServices } from './services.ts';

/** What a command has to work with. */
export interface Session {
  readonly services: OperatorServices;
  readonly output: Output;
  /** The command did its work and its answer is bad news: exit code 1. */
  readonly fail: () => void;
  /** A line for the person who waits, on standard error. */
  readonly tell: (line: string) => void;
}

export interface Admin {
  /** Wraps a command's work: connects first, and only when the command is really run. */
  run<Arguments extends readonly unknown[]>(
    work: (session: Session, ...given: Arguments) => Promise<void> | void,
  ): (...given: Arguments) => Promise<void>;
  /** The same for work that needs no service. */
  print<Arguments extends readonly unknown[]>(
    work: (session: Omit<Session, 'services'>, ...given: Arguments) => void,
  ): (...given: Arguments) => void;
}

/** Where a command's words go. */
export interface Console {
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
  /** Called when the answer is bad news. */
  readonly fail: () => void;
}

export function createAdmin(program: Command, { print, complain, fail }: Console): Admin {
  const options = (): { json?: boolean; data: string; stack?: string } => program.opts();
  const session = (): Omit<Session, 'services'> => ({
    output: createOutput(options().json === true, print),
    fail,
    tell: (line) => complain(visibleText(line)),
  });
  return {
    run:
      (work) =>
      async (...given) => {
        const { data, stack } = options();
        const services = await connect({ data, ...(stack !== undefined && { stack }) });
        await work({ services, ...session() }, ...given);
      },
    print:
      (work) =>
      (...given) => {
        work(session(), ...given);
      },
  };
}

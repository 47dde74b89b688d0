import type { Command } from 'commander';
import { connect } from './connect.ts';
import { createOutput, type Output } from './output.ts';
import type { OperatorServices } from './services.ts';

/** What a command has to work with. */
export interface Session {
  readonly services: OperatorServices;
  readonly output: Output;
  /** The command did its work and its answer is bad news: exit code 1. */
  readonly fail: () => void;
}

export interface Admin {
  /** Wraps a command's work: connects first, and only when the command is really run. */
  run<Arguments extends readonly unknown[]>(work: (session: Session, ...given: Arguments) => Promise<void> | void): (...given: Arguments) => Promise<void>;
  /** The same for work that needs no service. */
  print<Arguments extends readonly unknown[]>(work: (session: Omit<Session, 'services'>, ...given: Arguments) => void): (...given: Arguments) => void;
}

export function createAdmin(program: Command): Admin {
  const options = (): { json?: boolean; data: string; stack?: string } => program.opts();
  const session = (): Omit<Session, 'services'> => ({
    output: createOutput(options().json === true, (line) => console.log(line)),
    fail: () => {
      process.exitCode = 1;
    },
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

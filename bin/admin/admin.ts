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
}

export function createAdmin(program: Command): Admin {
  return {
    run:
      (work) =>
      async (...given) => {
        const { json, data, stack } = program.opts<{ json?: boolean; data: string; stack?: string }>();
        const services = await connect({ data, ...(stack !== undefined && { stack }) });
        const output = createOutput(json === true, (line) => console.log(line));
        const fail = (): void => {
          process.exitCode = 1;
        };
        await work({ services, output, fail }, ...given);
      },
  };
}

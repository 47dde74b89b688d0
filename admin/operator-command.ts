/** The frame of every command: it connects to the service, and its work gets the services and the output. */
import { Command } from 'commander';
import { createOutput, type Output } from '../client/command/terminal/output.ts';
import { visibleText } from '../client/command/terminal/visible-text.ts';
import { connect, connectIfRunning, type Target } from './connect.ts';
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

/** The output streams of a command. */
export interface Console {
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
  /** How wide the terminal is. Absent: the output goes to no terminal. */
  readonly columns?: number | undefined;
  /** Sets exit code 1. */
  readonly fail: () => void;
}

export class OperatorCommand extends Command {
  readonly #console: Console;

  constructor(console: Console, name?: string) {
    super(name);
    this.#console = console;
  }

  override createCommand(name?: string): OperatorCommand {
    return new OperatorCommand(this.#console, name);
  }

  /** Adds a command below this one. */
  task(nameAndArguments: string, description: string): OperatorCommand {
    return this.command(nameAndArguments).description(description);
  }

  /** The connection opens when the command runs, before its work. */
  run(work: (session: Session, ...given: never[]) => Promise<void> | void): this {
    return this.action(async (...given) => {
      const services = await connect(this.#target());
      await work({ services, ...this.#session() }, ...(given as never[]));
    });
  }

  /** Like run, for work that can do without a service. */
  runAnyway(
    work: (session: Omit<Session, 'services'> & Partial<Session>, ...given: never[]) => Promise<void>,
  ): this {
    return this.action(async (...given) => {
      const services = await connectIfRunning(this.#target());
      await work({ ...(services && { services }), ...this.#session() }, ...(given as never[]));
    });
  }

  #target(): Target {
    const { data, stack } = this.optsWithGlobals<Target>();
    if (stack !== undefined && this.getOptionValueSourceWithGlobals('data') === 'cli')
      throw new OperatorError('--data and --stack exclude each other: name the folder or the stack.');
    return { data, ...(stack !== undefined && { stack }) };
  }

  #session(): Omit<Session, 'services'> {
    const { print, complain, columns, fail } = this.#console;
    const { json } = this.optsWithGlobals<{ json?: boolean }>();
    return {
      output: createOutput(json === true, print, undefined, columns),
      fail,
      tell: (line) => complain(visibleText(line)),
    };
  }
}

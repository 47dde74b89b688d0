/** What a command works with: the client, its output, and the profile. */
import { Command } from 'commander';
import pc from 'picocolors';
import { Darkroom } from '../src/darkroom.ts';
import { DarkroomError } from '../src/errors.ts';
import { withMachinery } from '../src/http/machinery.ts';
import type { Io, Printer } from './io.ts';
import { type Credentials, credentialsOf } from './profiles.ts';
import { createOutput, type Output } from './terminal/output.ts';
import { visibleText } from './terminal/visible-text.ts';

export type Colors = ReturnType<typeof pc.createColors>;

/** Removes what a line of progress has drawn. */
const clearLine = '\r\u001b[2K';

/** The options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly profile?: string;
  readonly debug?: boolean;
}

export interface Session {
  readonly io: Io;
  readonly options: GlobalOptions;
  readonly output: Output;
  /** A line of progress on standard error. --json keeps it silent. */
  readonly note: (text: string) => void;
  /** Credentials of the environment or of the profile. */
  readonly credentials: () => Promise<Credentials>;
  readonly client: () => Promise<Darkroom>;
}

/** The frame of every command: its body gets a session with the options of the program. */
export class SessionCommand extends Command {
  readonly #io: Io;

  constructor(io: Io, name?: string) {
    super(name);
    this.#io = io;
  }

  override createCommand(name?: string): SessionCommand {
    return new SessionCommand(this.#io, name);
  }

  /** Adds a command below this one. */
  task(nameAndArguments: string, description: string): SessionCommand {
    return this.command(nameAndArguments).description(description);
  }

  /** Commander gives the body the arguments and the options, each as its command names it. */
  run(body: (session: Session, ...args: never[]) => Promise<void>): this {
    return this.action(async (...args) =>
      body(sessionOf(this.optsWithGlobals<GlobalOptions>(), this.#io), ...(args as never[])).catch(
        (error: unknown) => {
          // The fix of an error names the key only to a command that takes it.
          const takesKey = this.options.some(({ long }) => long === '--idempotency-key');
          if (!takesKey && error instanceof DarkroomError) delete error.idempotencyKey;
          throw error;
        },
      ),
    );
  }
}

/** Colours only on a terminal, unless the person has switched them off. */
export function colorsOf({ env }: Pick<Io, 'env'>, { isTTY }: Printer): Colors {
  return pc.createColors(isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb');
}

function sessionOf(options: GlobalOptions, io: Io): Session {
  const colors = colorsOf(io, io.err);
  const credentials = async (): Promise<Credentials> => credentialsOf(io, options.profile);
  const note = (text: string): void => {
    if (options.json === true) return;
    io.err.write(`${io.err.isTTY ? clearLine : ''}${colors.dim(visibleText(text))}\n`);
  };
  return {
    io,
    options,
    output: createOutput(options.json === true, (line) => io.out.write(`${line}\n`), colorsOf(io, io.out)),
    note,
    credentials,
    client: async () => clientOf(await credentials(), io, note),
  };
}

export function clientOf(
  { apiKey, baseUrl }: Pick<Credentials, 'apiKey' | 'baseUrl'>,
  io: Io,
  note: (text: string) => void,
): Darkroom {
  return new Darkroom(
    withMachinery(
      {
        apiKey,
        baseUrl,
        onRetry: ({ error, waitMs }) =>
          note(`${error.message} Trying again in ${Math.ceil(waitMs / 1000)} s.`),
      },
      { now: io.now, sleep: io.sleep, random: io.random, uuid: io.uuid },
    ),
  );
}

/**
 * Shows a person that a wait continues: on a terminal by one line that changes, elsewhere by a line per fact.
 */
export interface Progress {
  /** What is happening now. The same text again changes nothing. */
  readonly tell: (text: string) => void;
  /** Removes the line that changes. */
  readonly end: () => void;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const frameMillis = 100;

export function startProgress({ io, options }: Session): Progress {
  if (options.json === true) return { tell: () => undefined, end: () => undefined };
  const { err } = io;
  let text: string | undefined;
  if (!err.isTTY) {
    const tell = (now: string): void => {
      if (now !== text) err.write(`${visibleText(now)}\n`);
      text = now;
    };
    return { tell, end: () => undefined };
  }
  const colors = colorsOf(io, err);
  const started = io.now();
  let frame = 0;
  let isOver = false;
  const draw = (): void => {
    // Nothing is drawn before there is something to show.
    if (text === undefined || isOver) return;
    const seconds = Math.round((io.now() - started) / 1000);
    const mark = frames[(frame += 1) % frames.length] ?? '';
    err.write(`${clearLine}${colors.cyan(mark)} ${visibleText(text)} ${colors.dim(`${seconds} s`)}`);
  };
  const timer = setInterval(draw, frameMillis);
  timer.unref();
  return {
    tell: (now) => {
      text = now;
      draw();
    },
    end: () => {
      clearInterval(timer);
      if (text !== undefined && !isOver) err.write(clearLine);
      isOver = true;
    },
  };
}

/** The environment of the command. Tests pass another. */
import type { Readable } from 'node:stream';
import type { Machinery } from '../src/http/machinery.ts';

/** A stream for text. */
export interface Printer {
  write(text: string): void;
  readonly isTTY: boolean;
}

export type Input = Readable & { readonly isTTY?: boolean | undefined };

export interface Io extends Machinery {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results, for pipes. */
  readonly out: Printer;
  /** Progress and errors, for people. */
  readonly err: Printer;
  readonly input: Input;
  /** Where relative file names begin. */
  readonly folder: string;
  /** The home of the person, for the files of the configuration. */
  readonly home: string;
  /** Is aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Shows a file in the program that the person has chosen for its kind. */
  readonly open: (file: string) => void;
}

/** Asks a person, or reads what a program pipes in. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import type { Io } from './io.ts';

type Asked = Pick<Io, 'input' | 'err' | 'signal'>;

/** Asks for a line. With `hidden`, the terminal shows nothing of what is typed. */
async function ask(question: string, { input, err, signal }: Asked, hidden: boolean): Promise<string> {
  err.write(question);
  const echo = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!hidden) err.write(String(chunk));
      done();
    },
  });
  // The terminal is in raw mode, so only readline decides what is shown. Ctrl-C ends the question.
  const lines = createInterface({ input, output: echo, terminal: true });
  const ended = new AbortController();
  lines.once('SIGINT', () => ended.abort());
  try {
    return await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) });
  } finally {
    lines.close();
    if (hidden) err.write('\n');
  }
}

/** A secret is never an argument, since every list of processes shows the arguments. */
export async function readSecret(question: string, io: Asked): Promise<string> {
  return (io.input.isTTY === true ? await ask(question, io, true) : await readAll(io.input)).trim();
}

export async function readLine(question: string, io: Asked): Promise<string> {
  return (await ask(question, io, false)).trim();
}

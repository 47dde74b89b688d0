/** A secret as an operator gives it: typed without an echo, or piped in. Never an argument, which every process list shows. */
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { OperatorError } from '../operator-error.ts';

/** Printable ASCII without spaces: what every vendor's key consists of. */
const form = /^[\x21-\x7e]{8,4096}$/;

/** Throws OperatorError when nothing usable was given. */
export async function readSecret(
  question: string,
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'> = process,
): Promise<string> {
  const secret = (stdin.isTTY ? await ask(question, stdin, stderr) : await readAll(stdin)).trim();
  if (!form.test(secret))
    throw new OperatorError(
      'The key must have at least 8 printable characters and no spaces: paste it at the question, or pipe it in.',
    );
  return secret;
}

async function ask(question: string, input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  output.write(question);
  // What readline would echo goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    output.write('\n');
  }
}

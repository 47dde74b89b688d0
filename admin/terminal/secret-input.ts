/**
 * Reads a secret from the operator, who types it without an echo or pipes it in. A secret is never an
 * argument, since every list of processes shows the arguments.
 */
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { OperatorError } from '../operator-error.ts';

/** The keys of all vendors consist of printable ASCII characters without spaces. */
const form = /^[\x21-\x7e]{8,4096}$/;

/** Throws OperatorError when the input is no possible key. */
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
  // readline writes its echo to this stream, which discards it.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    output.write('\n');
  }
}

/** The messages and questions of a command to the operator. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { visibleText } from '../../client/command/terminal/visible-text.ts';
import type { Clock } from '../../service/values/runtime.ts';
import { OperatorError } from '../operator-error.ts';

type Terminal = Pick<NodeJS.Process, 'stdin' | 'stderr'>;

/**
 * Asks nothing when `isYes` is true. Otherwise throws OperatorError when the answer is not yes, or when there
 * is no terminal to ask on.
 */
export async function confirm(
  sentence: string,
  isYes: boolean,
  { stdin, stderr }: Terminal = process,
): Promise<void> {
  if (isYes) return;
  if (!stdin.isTTY) throw new OperatorError(`${sentence} Nothing was changed: add --yes if you mean it.`);
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    // Ctrl-D closes the input without an answer.
    const ended = once(lines, 'close').then(() => '');
    const answer = await Promise.race([lines.question(`${visibleText(sentence)} Do it? (yes/no) `), ended]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was changed.');
  } finally {
    lines.close();
  }
}

/** No line is printed before this time, and then one line each time. */
const betweenMillis = 2_000;

/**
 * Prints from time to time how far a long command is. A short command prints nothing.
 * @param tell prints a line on standard error
 * @returns takes the line of the moment, and prints it if it is time for one
 */
export function createProgress(
  clock: Pick<Clock, 'elapsed'>,
  tell: (line: string) => void,
): (line: () => string) => void {
  let last = clock.elapsed();
  return (line) => {
    const now = clock.elapsed();
    if (now - last < betweenMillis) return;
    last = now;
    tell(line());
  };
}

const leastCharacters = 8;
/** The keys of all vendors consist of printable ASCII characters without spaces. */
const form = new RegExp(`^[\\x21-\\x7e]{${leastCharacters},4096}$`);

/**
 * Reads a secret, which is typed without an echo or piped in: every list of processes shows arguments. Throws
 * OperatorError when the input is no possible key.
 */
export async function readSecret(
  question: string,
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'> = process,
): Promise<string> {
  const secret = (stdin.isTTY ? await ask(question, stdin, stderr) : await readAll(stdin)).trim();
  if (!form.test(secret))
    throw new OperatorError(
      `The key must have at least ${leastCharacters} printable characters and no spaces: paste it at the question, or pipe it in.`,
    );
  return secret;
}

/** Reads several texts in one answer, without an echo or from standard input. Throws OperatorError when there is none. */
export async function readTexts(
  question: string,
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'> = process,
): Promise<readonly string[]> {
  const answer = stdin.isTTY ? await ask(question, stdin, stderr) : await readAll(stdin);
  const texts = answer.split(/\s+/).filter(Boolean);
  if (texts.length === 0)
    throw new OperatorError('Nothing was given: paste it at the question, or pipe it in.');
  return texts;
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

/** Asks the operator before a change that is hard to reverse. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { visibleText } from '../../client/command/terminal/visible-text.ts';
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

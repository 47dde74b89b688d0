import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirm } from '../../admin/terminal/dialogue.ts';

/** A terminal on which a person types this text. */
function terminal(
  typed: string,
  isTTY = true,
): { readonly streams: Parameters<typeof confirm>[2]; readonly asked: () => string } {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = new PassThrough();
  stdin.end(`${typed}\n`);
  // PassThrough has every member of a terminal's streams that confirm() uses.
  return { streams: { stdin, stderr } as never, asked: () => String(stderr.read() ?? '') };
}

const sentence = 'This takes the balance below zero.';

describe('a question on a terminal', () => {
  it.each(['yes', 'y', ' YES '])('is confirmed by the answer %j', async (typed) => {
    const { streams, asked } = terminal(typed);
    await confirm(sentence, false, streams);
    expect(asked()).toContain('This takes the balance below zero. Do it? (yes/no) ');
  });

  it.each(['', 'no', 'yesterday'])('is declined by the answer %j', async (typed) => {
    await expect(confirm(sentence, false, terminal(typed).streams)).rejects.toThrow('Nothing was changed.');
  });

  it('is not asked with --yes', async () => {
    const { streams, asked } = terminal('no');
    await confirm(sentence, true, streams);
    expect(asked()).toBe('');
  });

  it('refuses the command when there is no terminal', async () => {
    const refused = confirm(sentence, false, terminal('yes', false).streams);
    await expect(refused).rejects.toThrow(
      'This takes the balance below zero. Nothing was changed: add --yes if you mean it.',
    );
  });
});

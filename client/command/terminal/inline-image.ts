/** Shows an image in terminals that can: the protocols of iTerm2 and of kitty. */
import type { Io } from '../io.ts';

export type Protocol = 'iterm2' | 'kitty';

/** The most base64 that kitty takes in one escape code. */
const kittyChunk = 4096;

/** The programs that understand a protocol, by the variables that they set. */
const programs: Readonly<Record<string, Protocol>> = {
  'iTerm.app': 'iterm2',
  WezTerm: 'iterm2',
  mintty: 'iterm2',
  ghostty: 'kitty',
};
const terminals: Readonly<Record<string, Protocol>> = { 'xterm-kitty': 'kitty', 'xterm-ghostty': 'kitty' };

/** Undefined when the terminal shows no images. tmux and screen swallow both protocols. */
export function protocolOf({ env }: Pick<Io, 'env'>): Protocol | undefined {
  if (env['TMUX'] || env['STY'] || /^(screen|tmux)/.test(env['TERM'] ?? '')) return undefined;
  if (env['KITTY_WINDOW_ID']) return 'kitty';
  return (
    terminals[env['TERM'] ?? ''] ??
    programs[env['TERM_PROGRAM'] ?? ''] ??
    (env['LC_TERMINAL'] === 'iTerm2' ? 'iterm2' : undefined)
  );
}

/** The escape codes that show the image. Undefined when the protocol has no such format: kitty takes PNG. */
export function inlineImage(protocol: Protocol, bytes: Uint8Array, contentType: string): string | undefined {
  const data = Buffer.from(bytes).toString('base64');
  if (protocol === 'iterm2') {
    return `\u001b]1337;File=inline=1;size=${bytes.length};width=40;preserveAspectRatio=1:${data}\u0007\n`;
  }
  if (contentType !== 'image/png') return undefined;
  const chunks = data.match(new RegExp(`.{1,${kittyChunk}}`, 'g')) ?? [];
  const parts = chunks.map((chunk, index) => {
    const more = index < chunks.length - 1 ? 1 : 0;
    // a=T: send and show. f=100: PNG. c: columns. q=2: no answer, which would look like typed text.
    return `\u001b_G${index === 0 ? 'a=T,f=100,c=40,q=2,' : ''}m=${more};${chunk}\u001b\\`;
  });
  return `${parts.join('')}\n`;
}

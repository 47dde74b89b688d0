/** Tells a person that a wait continues: one line that changes on a terminal, one line a fact elsewhere. */
import { visibleText } from './visible-text.ts';
import { clearLine, colorsOf, type Session } from '../session.ts';

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
    // Nothing is drawn before there is something to tell.
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

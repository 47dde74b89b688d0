/** One place of the page tells results to everybody, seeing or not. */
import { useEffect } from 'preact/hooks';
import { createValue, useValue } from '../value.ts';

const message = createValue('');
const shownMillis = 6000;

/** Tells a result in one short sentence. */
export const announce = (text: string): void => message.set(text);

export function Announcements() {
  const text = useValue(message);
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => message.set(''), shownMillis);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class={text === '' ? 'toast' : 'toast shown'} role="status">
      {text}
    </div>
  );
}

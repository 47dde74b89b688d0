import { useNow } from '../../api/hooks.ts';
import { relativeText, utcText } from '../../words/time.ts';

/** How long the result of a creation can still be fetched. */
export function Expiry({ at }: { at: string }) {
  const now = useNow(1000);
  const left = Date.parse(at) - now;
  return (
    <time dateTime={at} title={utcText(at)} class={left < 3_600_000 ? 'soon' : ''}>
      {left <= 0 ? 'result is gone' : `result is kept ${relativeText(at, now).replace(/^in /, 'for ')}`}
    </time>
  );
}

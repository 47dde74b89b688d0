/** A watch that hears only what a run measures. */
import type { ServiceWatch } from '../aws/deployed-service.ts';

const nothing = (): void => undefined;

export function quietWatch(heard: Partial<ServiceWatch>): ServiceWatch {
  return {
    onCommit: nothing,
    onTask: nothing,
    onRenders: nothing,
    onAsked: nothing,
    onToldByProvider: nothing,
    onStart: nothing,
    onRunAgain: nothing,
    onDied: nothing,
    onNotUnderstood: nothing,
    onCallback: nothing,
    onTaskEnded: nothing,
    onRead: nothing,
    onSent: nothing,
    onOpenaiSent: nothing,
    onOpenaiServed: nothing,
    onServed: nothing,
    onSealed: nothing,
    onText: nothing,
    onPost: nothing,
    onFetch: nothing,
    onPostEnded: nothing,
    ...heard,
  };
}

/** A pause as the operator's pages show it. */
import type { ProviderPause } from '../catalog/providers.ts';
import type { PauseView } from '../contract/portal-views.ts';
import { pausableOf } from '../operated/pauses.ts';

/** @param name under which it is stored */
export function pauseView(name: string, { since, reason }: ProviderPause): PauseView {
  const { provider, model, quality } = pausableOf(name);
  return { provider, model: model ?? null, quality: quality ?? null, since, reason: reason ?? null };
}

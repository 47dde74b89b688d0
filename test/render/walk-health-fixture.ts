/** Walks over two routes of which something is known. */
import type { RouteAttempt } from '../../service/creations/creation.ts';
import { hourMillis, noHealth, type RouteHealth } from '../../service/render/route-health.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { fakeProvider } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';
import type { Noted } from './fake-health.ts';
import { refused, type Surroundings, walk, type Walked } from './walk-fixture.ts';

export const open: RouteHealth = { ...noHealth, openedAt: now - 60_000, probeAt: now + 1 };
export const due: RouteHealth = { ...open, probeAt: now };
export const resting = (millis: number): RouteHealth => ({ ...noHealth, restUntil: now + millis });
export const taking = (millis: number): RouteHealth => ({
  ...noHealth,
  hours: [{ startMillis: Math.floor(now / hourMillis) * hourMillis, rendered: 1, millis }],
});
export const down = refused('unavailable');
export const throttled = (retryAfterMillis: number): ProviderAnswer => ({
  kind: 'refused',
  reason: 'unavailable',
  detail: 'HTTP 429',
  retryAfterMillis,
});
export const first = 'first#a#';
export const second = 'second#b#';

/** Lets everything happen that waits for no clock. */
export const passing = async (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export interface Asked extends Walked {
  readonly asked: readonly string[];
}

/** A walk whose two providers give these answers. */
export function walkBy(
  health: Noted,
  [firstAnswers, secondAnswers]: readonly [readonly ProviderAnswer[], readonly ProviderAnswer[]],
  { attempts = [], ...around }: Partial<Surroundings> & { readonly attempts?: readonly RouteAttempt[] } = {},
): Asked {
  const asked: string[] = [];
  const telling = (name: string, answers: readonly ProviderAnswer[]) =>
    fakeProvider(
      name,
      ...answers.map((answer) => () => {
        asked.push(name);
        return answer;
      }),
    );
  const providers = [telling('first', firstAnswers), telling('second', secondAnswers)];
  return { ...walk({ attempts }, { providers, health, ...around }), asked };
}

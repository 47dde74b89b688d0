/**
 * How a provider is at each moment: up, slow, or down in one of several ways. The seed of a world draws it, or a
 * load run gives it.
 */
import type { Dice } from '../world/dice.ts';

export type Weather =
  /** The least and the most milliseconds that a picture takes. */
  | { readonly kind: 'up'; readonly least: number; readonly most: number }
  /** Refuses at once. */
  | { readonly kind: 'refuses' }
  /** No connection can be made, which the caller learns after 10 s. */
  | { readonly kind: 'unreachable' }
  /** Takes the call and never answers. */
  | { readonly kind: 'hangs' }
  /** Refuses at once, and says when to ask again. */
  | { readonly kind: 'throttles'; readonly retryAfterMillis: number }
  /** Takes the call, and the connection breaks. */
  | { readonly kind: 'breaks' }
  | { readonly kind: 'refuses_key' };

/** The weather of a provider at a time, in Unix milliseconds. */
export type Forecast = (provider: string, atMillis: number) => Weather;

const usual: Weather = { kind: 'up', least: 300, most: 4_000 };
const kinds: readonly [Weather, ...Weather[]] = [
  usual,
  usual,
  usual,
  { kind: 'up', least: 5_000, most: 25_000 },
  { kind: 'refuses' },
  { kind: 'refuses' },
  { kind: 'unreachable' },
  { kind: 'hangs' },
  { kind: 'throttles', retryAfterMillis: 1_000 },
  { kind: 'throttles', retryAfterMillis: 6_000 },
  { kind: 'throttles', retryAfterMillis: 45_000 },
  { kind: 'breaks' },
  { kind: 'refuses_key' },
];

/** Weather that changes after 1 to 60 seconds, again and again. */
export function flappingWeather(dice: Dice, startAt: number): Forecast {
  const phases = new Map<string, { readonly until: number; readonly weather: Weather }[]>();
  return (provider, atMillis) => {
    const known = phases.get(provider) ?? [];
    phases.set(provider, known);
    for (
      let last = known.at(-1)?.until ?? startAt;
      last <= atMillis;
      last = known.at(-1)?.until ?? Infinity
    ) {
      const name = `weather ${known.length} of ${provider}`;
      const least = 1_000;
      const length = dice.between(
        `${name} lasts`,
        least,
        dice.pick(`${name} at most`, [5_000, 20_000, 60_000]),
      );
      known.push({ until: last + length, weather: dice.pick(name, kinds) });
    }
    return known.find(({ until }) => until > atMillis)?.weather ?? usual;
  };
}

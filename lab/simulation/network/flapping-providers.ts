/**
 * Providers that are up and down as their weather says. They render two models: one has two routes at the same
 * provider, and both have routes at several.
 */
import { AwsError } from '../../../local/aws/aws-error.ts';
import {
  type ImageProvider,
  type ProviderAnswer,
  refusedBy,
  type RenderJob,
} from '../../../service/vendors/provider.ts';
import type { Dice } from '../world/dice.ts';
import type { World } from '../world/simulated-world.ts';
import { pictures } from './providers.ts';

/** The routes of the models: their providers, and what each provider calls the model. */
export const flappingRoutes: Readonly<
  Record<string, readonly (readonly [provider: string, model: string])[]>
> = {
  'flux-2-pro': [
    ['bfl', 'pro'],
    ['bfl', 'pro-of-before'],
    ['alibaba', 'pro'],
  ],
  'flux-2-max': [
    ['alibaba', 'max'],
    ['ideogram', 'max'],
  ],
};

/** What the routes cost us: the later a route is listed, the cheaper it is. */
export const flappingCosts = Object.values(flappingRoutes).flatMap((routes) =>
  routes.map(([provider, provider_model], place) => ({
    provider,
    provider_model,
    quality: null,
    images: [{ resolution: '1K', usd: 0.05 - place / 100, usd_per_input_image: 0 }],
    source: null,
    checked_at: '2026-11-21',
  })),
);

/** The names of the providers that flap. */
export const flappingProviders: readonly string[] = [
  ...new Set(Object.values(flappingRoutes).flatMap((routes) => routes.map(([provider]) => provider))),
];

/** One call of a provider. */
export interface AskedProvider {
  /** The invocation that asks. */
  readonly invocation: string;
  readonly provider: string;
  readonly providerModel: string;
  readonly at: number;
}

export interface FlappingObserver {
  /** Called when a function asks a provider for a picture. */
  readonly onAsked: (asked: AskedProvider) => void;
  /** Called when this answer has reached the function that asked. */
  readonly onProviderAnswer: (asked: AskedProvider, answer: ProviderAnswer) => void;
}

const unreachableMillis = 10_000;
const foreverMillis = 3_600_000;

export function createFlappingProvider(
  world: World,
  name: string,
  forecast: Forecast,
  observer: Partial<FlappingObserver>,
): ImageProvider {
  let calls = 0;
  const work = async (
    weather: Weather,
    { outputFormat }: RenderJob,
    signal: AbortSignal,
  ): Promise<ProviderAnswer> => {
    switch (weather.kind) {
      case 'up':
        calls += 1;
        await world.sleep(
          world.dice.between(`${name} renders ${calls}`, weather.least, weather.most),
          signal,
        );
        return { kind: 'rendered', bytes: pictures[outputFormat] ?? Buffer.alloc(0) };
      case 'refuses':
        return refusedBy('unavailable', 'HTTP 503');
      case 'unreachable':
        await world.sleep(unreachableMillis, signal);
        return refusedBy('unavailable', 'UND_ERR_CONNECT_TIMEOUT');
      case 'hangs':
        await world.sleep(foreverMillis, signal);
        return refusedBy('unknown_outcome', 'UND_ERR_HEADERS_TIMEOUT');
      case 'throttles':
        return { ...refusedBy('unavailable', 'HTTP 429'), retryAfterMillis: weather.retryAfterMillis };
      case 'breaks':
        return refusedBy('unknown_outcome', 'ECONNRESET');
      case 'refuses_key':
        return refusedBy('credentials', 'HTTP 401');
    }
  };
  return {
    name,
    submit: async (job, signal) => {
      const { providerModel } = job;
      const invocation = world.current()?.id ?? '';
      const asked = { invocation, provider: name, providerModel, at: world.time.now() };
      observer.onAsked?.(asked);
      let weather: Weather;
      try {
        weather = await world.call({ service: 'provider', operation: 'submit', target: name, signal }, () => {
          const now = forecast(name, world.time.now());
          world.noteIncident(`provider ${now.kind}`);
          return now;
        });
      } catch (error) {
        signal.throwIfAborted();
        // As the adapters do: a refusal of the provider itself, or a connection that broke.
        return error instanceof AwsError
          ? refusedBy('unavailable', 'HTTP 500')
          : refusedBy('unknown_outcome', 'ECONNRESET');
      }
      const answer = await work(weather, job, signal);
      observer.onProviderAnswer?.(asked, answer);
      return answer;
    },
  };
}

/**
 * How a provider is at each moment: up, slow, or down in one of several ways. The seed of a world draws it, or a
 * load run gives it.
 */
type Weather =
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

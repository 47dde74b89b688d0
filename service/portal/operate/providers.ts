/** The switch that pauses a provider or a route for all accounts. */
import * as z from 'zod/mini';
import { providerNames } from '../../catalog/providers.ts';
import type { PausedView } from '../../contract/portal-views.ts';
import { parseBody, shownText } from '../../operated/body.ts';
import { choiceOf } from '../../operated/parameters.ts';
import { pausableOf, pause, pausedRoute } from '../../operated/pauses.ts';
import { routesOf } from '../../render/health-of-routes.ts';
import { invalidRequest } from '../../values/problem.ts';
import { pauseView } from '../pause-view.ts';
import type { OperateHandle, OperateServices } from './open.ts';

const pauseSchema = z.strictObject({
  provider: z.string(),
  model: z.nullish(z.string()),
  quality: z.nullish(z.string()),
  paused: z.boolean(),
  reason: z.optional(shownText('reason')),
});

/** PUT /operator/pauses: pauses a provider or a route for all accounts, or ends the pause. A repetition is safe. */
export const pauseRoute: OperateHandle<'pauseRoute'> = async (request, { nowMillis }, services) => {
  const body = parseBody(request, pauseSchema);
  const name = await pausedName(body, services);
  const { provider, model } = pausableOf(name);
  const target = model === undefined ? provider : `${provider} ${model}`;
  if (!body.paused) await services.providers.resume(name);
  const paused = body.paused ? await pause(name, body.reason, nowMillis, services.providers) : undefined;
  const view: PausedView = { pause: paused ? pauseView(name, paused) : null };
  const note = [body.paused ? 'paused' : 'resumed', body.reason].filter((text) => text !== undefined);
  return { status: 200, body: view, logged: { target, note: note.join(': ') } };
};

/** Throws 400 for what the service does not know. */
async function pausedName(
  { provider, model, quality }: z.output<typeof pauseSchema>,
  { providers: store, catalogs }: OperateServices,
): Promise<string> {
  const [enabled, catalog] = await Promise.all([store.enabled(), catalogs.latest()]);
  const names = providerNames(enabled);
  if (!names.includes(provider))
    throw invalidRequest([{ field: 'provider', code: 'invalid_value', message: choiceOf(names) }]);
  if (typeof model !== 'string') return provider;
  const route = { provider, model, quality: quality ?? undefined };
  const name = pausedRoute(route, routesOf(catalog));
  if (name !== undefined) return name;
  const message = `must be a model of a route of ${provider}, with its quality where it has one`;
  throw invalidRequest([{ field: 'model', code: 'invalid_value', message }]);
}

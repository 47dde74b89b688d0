/** The measured health of each route of the catalog, and the order in which routes are tried. */
import type { Row } from '../../client/command/terminal/output.ts';
import { isRouteOrder, type RouteOrder, routeOrders } from '../../service/catalog/provider-store.ts';
import { routeName } from '../../service/catalog/providers.ts';
import type { RouteChoice } from '../../service/creations/creation.ts';
import { readHealth, routesOf } from '../../service/render/health-of-routes.ts';
import { meanMillis, type RouteHealth, sumsWithin } from '../../service/render/route-health.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { readMerged } from '../catalog/merged-catalog.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

const readMillis = 10_000;

/** @param command `providers` */
export function addHealthCommands(command: OperatorCommand): void {
  command
    .task(
      'health',
      'what was learnt of each route: images and failures of the last minute, its usual time, its circuit',
    )
    .run(async ({ services, output }) =>
      output.list(await healthRows(services), 'Nothing was noted of any route.'),
    );
  command
    .task(
      'order [order]',
      `the order in which the routes of a model are asked: ${routeOrders.join(', ')}; alone it shows the order`,
    )
    .run(async ({ services: { providers }, output }, text?: string) => {
      if (text !== undefined) await providers.setRouteOrder(orderOf(text));
      output.show({ order: text ?? (await providers.routeOrder()) });
    });
}

function orderOf(text: string): RouteOrder {
  if (isRouteOrder(text)) return text;
  throw new OperatorError(`There is no order ${JSON.stringify(text)}: known are ${routeOrders.join(', ')}.`);
}

/** The routes of which something was noted, or that are paused, in the order of the catalog. */
async function healthRows(services: OperatorServices): Promise<Row[]> {
  const { health, clock, providers } = services;
  const [{ catalog }, pauses] = await Promise.all([readMerged(services), providers.pauses()]);
  const known = await readHealth(routesOf(catalog), health, clock.now(), () =>
    AbortSignal.timeout(readMillis),
  );
  return known.flatMap(([route, found]) => {
    const since = pauses[routeName(route)]?.since ?? null;
    return since !== null || isNoted(found)
      ? [{ ...rowOf(route, found, clock.now()), paused_since: since }]
      : [];
  });
}

function isNoted({ windows, hours, openedAt, probeAt, restUntil }: RouteHealth): boolean {
  return windows.length > 0 || hours.length > 0 || (openedAt ?? probeAt ?? restUntil) !== undefined;
}

function rowOf({ provider, providerModel, quality }: RouteChoice, health: RouteHealth, now: number): Row {
  const { rendered, failed, keyRefused } = sumsWithin(health, 60, now);
  const mean = meanMillis(health, now);
  const { openedAt, probeAt, restUntil = 0 } = health;
  return {
    provider,
    model: providerModel,
    quality: quality ?? null,
    circuit: circuitOf(health, now),
    rendered,
    failed,
    key_refused: keyRefused,
    usual_ms: mean === undefined ? null : Math.round(mean),
    open_since: openedAt === undefined ? null : timeOf(openedAt),
    next_probe: openedAt === undefined || probeAt === undefined ? null : timeOf(probeAt),
    rests_until: restUntil > now ? timeOf(restUntil) : null,
  };
}

/** 'probing': a creation has claimed the probe, and the next probe is not due yet. */
function circuitOf({ openedAt, probeAt = 0, probes = 0 }: RouteHealth, now: number): string {
  if (openedAt === undefined) return 'closed';
  return probes > 0 && probeAt > now ? 'probing' : 'open';
}

function timeOf(millis: number): string {
  return new Date(millis).toISOString();
}

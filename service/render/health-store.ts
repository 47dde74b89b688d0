/**
 * The health of each route, in an item of its own. The sums of a window are attributes whose names hold the
 * number of the window, so that a note is one ADD without a condition: no write begins a window. A note also
 * removes the past windows that its function has read.
 *
 *   r<n>, f<n>, k<n>   renderings, failures and refused keys of the five seconds n
 *   h<n>, t<n>         renderings of the hour n, and their milliseconds
 */
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { sendRead, updateItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { type RouteOrder, routeOrderOf, switchesOf } from '../catalog/provider-store.ts';
import { routeName } from '../catalog/providers.ts';
import type { RouteChoice } from '../creations/creation.ts';
import {
  type HealthHour,
  type HealthSign,
  type HealthWindow,
  hourMillis,
  isKept,
  nextProbe,
  noHealth,
  probeWaitsSeconds,
  type RouteHealth,
  windowMillis,
} from './route-health.ts';

/** The item of an unused route expires. */
const keptDays = 7;
/** A function that reads more past sums than this removes them by a call of its own. */
const mostLeftovers = 30;
const pausesKeptMillis = 10_000;

export function healthKey(route: RouteChoice): ItemKey {
  return { pk: `HEALTH#${routeName(route)}`, sk: 'HEALTH' };
}

export function createHealthStore(shared: Table) {
  const seen = new Map<string, RouteHealth>();
  const learn = (route: RouteChoice, item: Item | undefined): RouteHealth => {
    const health = item ? healthFromItem(item) : noHealth;
    seen.set(routeName(route), health);
    return health;
  };
  const reads = new Map<string, number>();
  let pauses: { readonly names: readonly string[]; readonly at: number } | undefined;
  const readNow = async (
    routes: readonly RouteChoice[],
    nowMillis: number,
    signal: AbortSignal,
  ): Promise<KnownRoutes> => {
    const { paused, ...known } = await read({ ...shared, signal }, routes, learn);
    for (const route of routes) reads.set(routeName(route), nowMillis);
    pauses = { names: paused, at: nowMillis };
    return known;
  };
  const seenOf = (route: RouteChoice): RouteHealth => seen.get(routeName(route)) ?? noHealth;
  return {
    seen: seenOf,
    /** When this environment last read the route, in Unix milliseconds. Undefined: never. */
    readAt: (route: RouteChoice): number | undefined => reads.get(routeName(route)),
    /** One eventually consistent BatchGetItem. A route of which nothing was noted is `noHealth`. */
    read: readNow,
    /** The paused providers, as this environment read them at most ten seconds ago. */
    paused: async (nowMillis: number, signal: AbortSignal): Promise<readonly string[]> => {
      if (!pauses || Math.abs(nowMillis - pauses.at) >= pausesKeptMillis)
        await readNow([], nowMillis, signal);
      return pauses?.names ?? [];
    },
    /** One write. Resolves with the sums after it. */
    note: async (
      route: RouteChoice,
      note: HealthNote,
      nowMillis: number,
      signal: AbortSignal,
    ): Promise<RouteHealth> => {
      const table = { ...shared, signal };
      const update = noteOf(note, seenOf(route), nowMillis);
      const answer = await updateItem(table, healthKey(route), { ...update, ReturnValues: 'ALL_NEW' });
      const health = learn(route, answer.Attributes);
      const left = leftovers(health, nowMillis);
      if (left.length > mostLeftovers) await updateItem(table, healthKey(route), removalOf(left));
      return health;
    },
    /** Opens the circuit. False when another function has done so. */
    open: async (route: RouteChoice, nowMillis: number, signal: AbortSignal): Promise<boolean> =>
      updateIf({ ...shared, signal }, healthKey(route), {
        UpdateExpression: 'SET openedAt = :now, probeAt = :probeAt, probes = :none',
        ConditionExpression: 'attribute_not_exists(openedAt)',
        ExpressionAttributeValues: {
          ':now': nowMillis,
          ':probeAt': nowMillis + probeWaitsSeconds[0] * 1000,
          ':none': 0,
        },
      }),
    /** Closes the circuit that opened at this time, and forgets its failures. False when it is not open. */
    close: async (
      route: RouteChoice,
      { windows, openedAt }: RouteHealth,
      signal: AbortSignal,
    ): Promise<boolean> => {
      const failures = windows.flatMap(({ startMillis }) => [
        nameOf('f', startMillis),
        nameOf('k', startMillis),
      ]);
      return updateIf({ ...shared, signal }, healthKey(route), {
        UpdateExpression: `REMOVE openedAt, probeAt, ${['probes', ...placesOf(failures)].join(', ')}`,
        ConditionExpression: 'openedAt = :openedAt',
        ...(failures.length > 0 && { ExpressionAttributeNames: placed(failures) }),
        ExpressionAttributeValues: { ':openedAt': openedAt },
      });
    },
    /** Claims the probe of a route for one creation. False when another creation has claimed it. */
    claimProbe: async (
      route: RouteChoice,
      health: RouteHealth,
      nowMillis: number,
      signal: AbortSignal,
    ): Promise<boolean> => updateIf({ ...shared, signal }, healthKey(route), claimOf(health, nowMillis)),
  };
}

/** Nothing is repeated: a route whose item was not read counts as unknown. */
async function read(
  table: Table,
  routes: readonly RouteChoice[],
  learn: (route: RouteChoice, item: Item | undefined) => RouteHealth,
): Promise<KnownRoutes & { readonly paused: readonly string[] }> {
  const wanted = [keys.service(), ...routes.map(healthKey)];
  const answer = await sendRead(table, (options) =>
    table.client.send(new BatchGetCommand({ RequestItems: { [table.name]: { Keys: wanted } } }), options),
  );
  const items = answer.Responses?.[table.name] ?? [];
  const itemAt = ({ pk }: ItemKey): Item | undefined => items.find((item) => item['pk'] === pk);
  return {
    order: routeOrderOf(itemAt(keys.service())),
    paused: switchesOf(itemAt(keys.service())).pausedProviders ?? [],
    health: routes.map((route) => learn(route, itemAt(healthKey(route)))),
  };
}

function noteOf(
  { sign, weight, millis, restUntil }: HealthNote,
  seen: RouteHealth,
  nowMillis: number,
): UpdateParts {
  const sums: readonly (readonly [SumLetter, number])[] =
    sign === 'rendered'
      ? [
          ['r', weight],
          ['h', weight],
          ['t', weight * Math.round(millis ?? 0)],
        ]
      : [['f', weight], ...(sign === 'key_refused' ? ([['k', weight]] as const) : [])];
  const left = leftovers(seen, nowMillis);
  return {
    UpdateExpression: [
      `ADD ${sums.map(([letter]) => `#${letter} :${letter}`).join(', ')}`,
      `SET #ttl = :ttl${restUntil === undefined ? '' : ', restUntil = :rest'}`,
      ...(left.length > 0 ? [`REMOVE ${placesOf(left).join(', ')}`] : []),
    ].join(' '),
    ExpressionAttributeNames: {
      '#ttl': ttlAttribute,
      ...Object.fromEntries(sums.map(([letter]) => [`#${letter}`, nameOf(letter, nowMillis)])),
      ...placed(left),
    },
    ExpressionAttributeValues: {
      ':ttl': Math.ceil(nowMillis / 1000) + keptDays * 86_400,
      ...Object.fromEntries(sums.map(([letter, sum]) => [`:${letter}`, sum])),
      ...(restUntil !== undefined && { ':rest': restUntil }),
    },
  };
}

function removalOf(names: readonly string[]): UpdateParts {
  return {
    UpdateExpression: `REMOVE ${placesOf(names).join(', ')}`,
    ExpressionAttributeNames: placed(names),
  };
}

/** Placeholders for the names of attributes, so that the expressions are constant. */
function placesOf(names: readonly string[]): readonly string[] {
  return names.map((_, place) => `#old${place}`);
}

function placed(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, place) => [`#old${place}`, name]));
}

/**
 * The condition names the values that were read, so that only one of the creations that read them gets the
 * probe.
 */
function claimOf(health: RouteHealth, nowMillis: number): UpdateParts {
  const { openedAt, probeAt, probes = 0 } = health;
  const isAsRead = (name: string, value: number | undefined): string =>
    value === undefined ? `attribute_not_exists(${name})` : `${name} = :${name}`;
  return {
    UpdateExpression: 'SET probeAt = :next, probes = :probes, #ttl = :ttl',
    ConditionExpression: `${isAsRead('openedAt', openedAt)} AND ${isAsRead('probeAt', probeAt)}`,
    ExpressionAttributeNames: { '#ttl': ttlAttribute },
    ExpressionAttributeValues: {
      ':next': nextProbe(health, nowMillis),
      ':probes': probes + 1,
      ':ttl': Math.ceil(nowMillis / 1000) + keptDays * 86_400,
      ...(openedAt !== undefined && { ':openedAt': openedAt }),
      ...(probeAt !== undefined && { ':probeAt': probeAt }),
    },
  };
}

const sumLetters = {
  r: windowMillis,
  f: windowMillis,
  k: windowMillis,
  h: hourMillis,
  t: hourMillis,
} as const;
type SumLetter = keyof typeof sumLetters;

function nameOf(letter: SumLetter, atMillis: number): string {
  return `${letter}${Math.floor(atMillis / sumLetters[letter])}`;
}

function leftovers({ windows, hours }: RouteHealth, nowMillis: number): readonly string[] {
  return [
    ...windows.flatMap(({ startMillis, rendered, failed, keyRefused }) =>
      isKept(startMillis, 'window', nowMillis)
        ? []
        : [
            ...(rendered > 0 ? [nameOf('r', startMillis)] : []),
            ...(failed > 0 ? [nameOf('f', startMillis)] : []),
            ...(keyRefused > 0 ? [nameOf('k', startMillis)] : []),
          ],
    ),
    ...hours.flatMap(({ startMillis }) =>
      isKept(startMillis, 'hour', nowMillis) ? [] : [nameOf('h', startMillis), nameOf('t', startMillis)],
    ),
  ];
}

const wholeNumbers = ['openedAt', 'probeAt', 'probes', 'restUntil'] as const;

function healthFromItem(item: Item): RouteHealth {
  const windows = new Map<number, HealthWindow>();
  const hours = new Map<number, HealthHour>();
  for (const [name, value] of Object.entries(item)) {
    const [, letter, number] = /^([rfkht])(\d+)$/.exec(name) ?? [];
    if (letter === undefined) continue;
    const startMillis = Number(number) * sumLetters[letter as SumLetter];
    const sum = Number(value);
    if (letter === 'h' || letter === 't') {
      const hour = hours.get(startMillis) ?? { startMillis, rendered: 0, millis: 0 };
      hours.set(startMillis, { ...hour, ...(letter === 'h' ? { rendered: sum } : { millis: sum }) });
      continue;
    }
    const window = windows.get(startMillis) ?? { startMillis, rendered: 0, failed: 0, keyRefused: 0 };
    const field = { r: 'rendered', f: 'failed', k: 'keyRefused' }[letter] ?? 'rendered';
    windows.set(startMillis, { ...window, [field]: sum });
  }
  return {
    windows: [...windows.values()],
    hours: [...hours.values()],
    ...Object.fromEntries(
      wholeNumbers.flatMap((name) => (item[name] === undefined ? [] : [[name, Number(item[name])]])),
    ),
  };
}

export interface HealthNote {
  readonly sign: HealthSign;
  /** The number of ends that the note represents. */
  readonly weight: number;
  readonly millis?: number;
  /** Unix milliseconds until which the vendor wants no calls. */
  readonly restUntil?: number;
}

interface KnownRoutes {
  readonly order: RouteOrder;
  readonly health: readonly RouteHealth[];
}

/** Every call throws when its signal aborts. Missing health costs the order of routes, never a creation. */
export type HealthStore = ReturnType<typeof createHealthStore>;

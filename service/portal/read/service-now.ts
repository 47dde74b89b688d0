/** What fails now, and what is open, for the first page of the operator. */
import type { OpenCreation, ServiceView } from '../../contract/portal-views.ts';
import { isEnabled } from '../../catalog/providers.ts';
import type { CreationRecord } from '../../creations/creation.ts';
import { parametersOf } from '../../operated/parameters.ts';
import { readHealth, routesOf } from '../../render/health-of-routes.ts';
import { type CreationId, timeOfUuidV7 } from '../../values/ids.ts';
import { pauseView } from '../pause-view.ts';
import { failingWebhooks } from './failing-webhooks.ts';
import type { ReadHandle, ReadServices } from './open.ts';

/** The beginning of each band of ages, in seconds. No account may wait for longer than the last one. */
const bandsFrom = [0, 60, 300, 720] as const;
const mostOfShard = 1_000;
const mostRead = 100;
const mostShown = 50;

/** GET /operator/service; ?band is the beginning of the band whose creations are listed. */
export const getService: ReadHandle<'getService'> = async (request, { nowMillis }, services) => {
  const parameters = parametersOf(request);
  const band = parameters.read('band', bandIn, `must be one of ${bandsFrom.join(', ')}`);
  parameters.check();
  const [{ enabled, pauses }, failing, open] = await Promise.all([
    services.providers.standing(),
    failingWebhooks(nowMillis, services),
    services.operated.openCreations(mostOfShard),
  ]);
  const [circuits, creations] = await Promise.all([
    openCircuits(enabled, nowMillis, services),
    openCreations(open.ids, band, nowMillis, services),
  ]);
  const body: ServiceView = {
    open_circuits: circuits,
    pauses: Object.entries(pauses)
      .map(([name, pause]) => pauseView(name, pause))
      .sort((a, b) => (a.since < b.since ? -1 : 1)),
    failing_webhooks: failing.length,
    open: { count: open.ids.length, has_all: open.hasAll, ...creations },
  };
  return { status: 200, body };
};

function bandIn(text: string): number | undefined {
  return bandsFrom.find((from) => String(from) === text);
}

/** Only of enabled providers: the others get no requests. */
async function openCircuits(
  enabled: readonly string[],
  nowMillis: number,
  { catalogs, health, budget }: ReadServices,
): Promise<ServiceView['open_circuits']> {
  const routes = routesOf(await catalogs.latest()).filter(({ provider }) => isEnabled(provider, enabled));
  const known = await readHealth(routes, health, nowMillis, () => budget.signal);
  return known.flatMap(([{ provider, providerModel: model, quality }, { openedAt }]) =>
    openedAt === undefined
      ? []
      : [{ provider, model, quality: quality ?? null, since: new Date(openedAt).toISOString() }],
  );
}

async function openCreations(
  ids: readonly CreationId[],
  band: number | undefined,
  nowMillis: number,
  { creations, operated }: ReadServices,
): Promise<Pick<ServiceView['open'], 'bands' | 'oldest' | 'overdue'>> {
  const ageOf = (id: CreationId): number => (nowMillis - (timeOfUuidV7(id) ?? nowMillis)) / 1000;
  const bandOf = (id: CreationId): number => bandsFrom.findLast((from) => ageOf(id) >= from) ?? 0;
  // Ids sort by their time.
  const oldestFirst = ids.toSorted();
  const oldest = oldestFirst.slice(0, mostRead);
  const listed = oldestFirst.filter((id) => band === undefined || bandOf(id) === band).slice(0, mostShown);
  const records = await creations.readAll([...new Set([...oldest, ...listed])]);
  const found = new Map(records.map((creation) => [creation.id, creation]));
  const shown = listed.flatMap((id) => found.get(id) ?? []);
  const accounts = await operated.accountsOf(shown.map(({ accountId }) => accountId));
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  return {
    bands: bandsFrom.map((from, place) => ({
      from_seconds: from,
      to_seconds: bandsFrom[place + 1] ?? null,
      count: ids.filter((id) => bandOf(id) === from).length,
    })),
    oldest: shown.map((creation) => openView(creation, names.get(creation.accountId), nowMillis)),
    overdue: oldest.filter((id) => isOverdue(found.get(id), nowMillis)).length,
  };
}

/** The index may still name a creation that has ended. */
function isOverdue(creation: CreationRecord | undefined, nowMillis: number): boolean {
  if (!creation) return false;
  return creation.completedAt === undefined && creation.deadlineAt <= nowMillis;
}

function openView(creation: CreationRecord, name: string | undefined, nowMillis: number): OpenCreation {
  return {
    id: creation.id,
    account: creation.accountId,
    account_name: name ?? '',
    model: creation.model,
    status: creation.status,
    created_at: creation.createdAt,
    is_overdue: isOverdue(creation, nowMillis),
    provider: creation.attempts.at(-1)?.provider ?? null,
  };
}

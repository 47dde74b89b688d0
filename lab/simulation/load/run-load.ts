/**
 * A run of load: requests of clients arrive at a rate on virtual time, and the real functions serve them. Nothing
 * fails except what the plan names.
 */
import { createService, type Service } from '../aws/deployed-service.ts';
import { readSdkConfiguration } from '../aws/http-exchange.ts';
import type { Change } from '../aws/simulated-table.ts';
import { type AccountHeld, keyAt, openAccount } from '../clients/open-accounts.ts';
import { submission } from '../clients/requests.ts';
import { auditTable } from '../invariants/at-rest-audit.ts';
import type { AskedProvider, Forecast } from '../network/flapping-providers.ts';
import { undisturbed } from '../clients/scenario.ts';
import { createWorld } from '../world/create-world.ts';
import { createDice } from '../world/dice.ts';
import { takeTime, type VirtualTime } from '../world/time.ts';
import { type Followed, loaded, type LoadPlan, type LoadReport, reportOf } from './measures.ts';
import { arrivals, reconcileEachMinute, sendAt, unlimited } from './traffic.ts';

const startAt = Date.UTC(2026, 10, 21, 12, 0, 30);
/** The trace would need gigabytes. */
const longestTrace = 100_000;
const stepsPerCheck = 5_000;

/** How far a run is, in seconds of virtual time. */
export interface LoadProgress {
  readonly seconds: number;
  readonly ofSeconds: number;
  readonly accepted: number;
  readonly open: number;
}

/** Runs the load until every creation has ended, and reports what became of the creations. */
export async function runLoad(
  plan: LoadPlan,
  tell: (progress: LoadProgress) => void = () => undefined,
): Promise<LoadReport> {
  await readSdkConfiguration();
  const time = takeTime();
  try {
    time.reset(startAt, plan.seed);
    return await runOn(time, plan, tell);
  } finally {
    time.end();
  }
}

async function runOn(
  time: VirtualTime,
  plan: LoadPlan,
  tell: (progress: LoadProgress) => void,
): Promise<LoadReport> {
  const { seed, deadlineSeconds } = plan;
  const lengthSeconds = plan.beforeSeconds + plan.downSeconds + plan.afterSeconds;
  const world = createWorld({
    seed,
    time,
    dice: createDice(seed),
    ...undisturbed,
    faults: () => undefined,
  });
  const forecast = forecastOf(plan);
  const follower = createFollower(() => time.now() - startAt, forecast);
  const service = createService(world, follower, { forecast });
  const held = Array.from({ length: plan.accounts }, (_, index) =>
    openAccount({ ...unlimited, deadlineSeconds }, index, world, service),
  );
  let sent = 0;
  sendAt(
    time,
    startAt,
    arrivals(seed, () => plan.perSecond, lengthSeconds * 1000),
    () => {
      const account = held[sent % held.length];
      sent += 1;
      if (account) void send(service, account, sent, follower);
    },
  );
  reconcileEachMinute(time, service);

  const last = startAt + lengthSeconds * 1000;
  const end = last + (deadlineSeconds + 180) * 1000;
  for (let steps = 1; time.now() < last || (follower.open.size > 0 && time.now() < end); steps += 1) {
    if (!(await time.step())) break;
    if (steps % stepsPerCheck !== 0) continue;
    if (world.trace.length > longestTrace) world.trace.length = 0;
    tell({
      seconds: Math.round((time.now() - startAt) / 1000),
      ofSeconds: lengthSeconds,
      accepted: follower.all.size,
      open: follower.open.size,
    });
  }
  // The last executions end a moment after their creations.
  for (let idle = 0; idle < 20_000 && world.live.size > 0; idle += 1) await time.step();
  const differences = await auditTable(service.table, service.store);
  return reportOf(plan, loaded.down, [...follower.all.values()], {
    refused: Object.fromEntries(follower.refused),
    differences: differences.map((difference) => JSON.stringify(difference)),
  });
}

/** The first provider is down for a while, and both are up otherwise. */
function forecastOf({ way, beforeSeconds, downSeconds, renderSeconds }: LoadPlan): Forecast {
  const from = startAt + beforeSeconds * 1000;
  const to = from + downSeconds * 1000;
  const [least, most] = renderSeconds;
  return (provider, atMillis) =>
    provider === loaded.down && atMillis >= from && atMillis < to
      ? { kind: way }
      : { kind: 'up', least: least * 1000, most: most * 1000 };
}

/** Follows each creation from its charge to its end. */
function createFollower(now: () => number, forecast: Forecast) {
  const all = new Map<string, Followed>();
  const open = new Set<string>();
  const refused = new Map<string, number>();
  const rendered = new Map<string, string>();
  return {
    all,
    open,
    refused,
    onAnswer: (status: number) => {
      if (status !== 202) refused.set(String(status), (refused.get(String(status)) ?? 0) + 1);
    },
    onCommit: (changes: readonly Change[]) => {
      for (const { pk, sk, before, after } of changes) {
        if (sk !== 'CREATION') continue;
        const id = pk.slice('CREATION#'.length);
        if (!before) {
          all.set(id, { acceptedAt: now(), hasFelt: false });
          open.add(id);
        }
        const status = after?.['status']?.S;
        const creation = all.get(id);
        if (!creation || (status !== 'completed' && status !== 'failed') || !open.delete(id)) continue;
        creation.endedAt = now();
        creation.isCompleted = status === 'completed';
      }
    },
    onRenders: (invocation: string, creation: string) => void rendered.set(invocation, creation),
    onAsked: ({ invocation, provider, at }: AskedProvider) => {
      const creation = all.get(rendered.get(invocation) ?? '');
      if (!creation) return;
      creation.firstAsked ??= provider;
      if (forecast(provider, at).kind !== 'up') creation.hasFelt = true;
    },
  };
}

type Follower = ReturnType<typeof createFollower>;

async function send(
  service: Service,
  account: AccountHeld,
  number: number,
  follower: Follower,
): Promise<void> {
  const event = submission(
    { name: `load ${number}`, model: loaded.model, resolution: '1K', directives: '', images: [] },
    keyAt(account, 0),
  );
  const answer = await service.request('generate', event);
  follower.onAnswer(answer.statusCode ?? 0);
}

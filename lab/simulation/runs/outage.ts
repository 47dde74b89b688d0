/**
 * An outage of StartExecution, or of the room that Lambda has for Tasks, on virtual time, between traffic of one rate.
 * The charges do not pass the door of the API, which refuses requests once the service is full.
 */
import type { ApiKey } from '../../../service/accounts/account.ts';
import { startGraceMillis } from '../../../service/contract/limits.ts';
import { createChargeStore } from '../../../service/creations/charge-store.ts';
import type { NewCreation } from '../../../service/creations/charge.ts';
import { startCreation } from '../../../service/generate/generate-image.ts';
import { type CreationId, uuidV7 } from '../../../service/values/ids.ts';
import { asMicros } from '../../../service/values/money.ts';
import { schema } from '../../../service/values/runtime.ts';
import { dayOf, monthOf } from '../../../service/values/time.ts';
import {
  createService,
  type Service,
  type ServiceObserver,
  type StartLimits,
} from '../aws/deployed-service.ts';
import { readSdkConfiguration } from '../aws/http-exchange.ts';
import type { Change } from '../aws/simulated-table.ts';
import { type AccountHeld, openAccount } from '../clients/open-accounts.ts';
import { auditTable } from '../invariants/at-rest-audit.ts';
import type { Absent, OutageReport } from '../messages.ts';
import { undisturbed } from '../clients/scenario.ts';
import { reconcileEachMinute, sendAt, unlimited } from '../load/traffic.ts';
import { createWorld } from '../world/create-world.ts';
import { createDice } from '../world/dice.ts';
import type { FaultPlan } from '../world/faults.ts';
import type { World } from '../world/simulated-world.ts';
import { takeTime } from '../world/time.ts';

export interface Outage extends StartLimits {
  readonly of: Absent;
  /** Creations that are accepted a second: before, during and after the outage. */
  readonly perSecond: number;
  readonly outageSeconds: number;
  /** How long traffic goes on after the outage. */
  readonly afterSeconds: number;
  readonly deadlineSeconds: number;
  readonly accounts: number;
  /** How long the provider takes. */
  readonly renderSeconds: number;
}

/** The outage of the issue, in a large region. */
export const wholeOutage: Outage = {
  of: 'starts',
  perSecond: 100,
  outageSeconds: 600,
  afterSeconds: 330,
  deadlineSeconds: 300,
  accounts: 300,
  renderSeconds: 15,
  startsPerSecond: 300,
  startBurst: 1_300,
};

/** The calls that an outage strikes, and how. */
const strikes: Readonly<Record<Absent, FaultPlan>> = {
  starts: ({ operation }) => (operation === 'StartExecution' ? 'error' : undefined),
  tasks: ({ service }) => (service === 'task' ? 'no_room' : undefined),
};
const minuteMillis = 60_000;
/** A creation with this much time left at the end of the outage has to be rendered. */
const enoughMillis = 60_000;
const beforeMillis = 90_000;
const latestOpenSeconds = 120;
const completedShare = 0.95;
const startAt = Date.UTC(2026, 10, 21, 12, 0, 30);
const costMicros = asMicros(10_000);
/** The trace would need gigabytes. */
const longestTrace = 100_000;

interface Followed {
  readonly acceptedAt: number;
  readonly deadlineAt: number;
  endedAt?: number;
  isCompleted?: boolean;
  /** Whether it failed for another reason than its deadline. */
  isGivenUp?: boolean;
}

/** Runs the outage until every creation has ended, and reports what became of the creations. */
export async function simulateOutage(outage: Outage): Promise<OutageReport> {
  await readSdkConfiguration();
  const time = takeTime();
  try {
    time.reset(startAt, 1);
    const from = startAt + beforeMillis;
    const to = from + outage.outageSeconds * 1000;
    const last = to + outage.afterSeconds * 1000;
    const world = createWorld({
      ...undisturbed,
      seed: 1,
      time,
      dice: createDice(1),
      // The plan strikes every such call of the outage, by any caller.
      faults: (call) => (time.now() >= from && time.now() < to ? strikes[outage.of](call) : undefined),
    });
    const followed = new Map<string, Followed>();
    const open = new Set<string>();
    const service = createService(world, observerOf(world, followed, open), outage);
    const accounts = Array.from({ length: outage.accounts }, (_, index) =>
      openAccount({ ...unlimited, deadlineSeconds: outage.deadlineSeconds }, index, world, service),
    );
    const submit = createSubmitter(world, service, outage, followed, open);
    const gap = 1000 / outage.perSecond;
    const count = Math.ceil((last - startAt) / gap);
    let sent = 0;
    sendAt(time, startAt, Array.from({ length: count }, (_, number) => number * gap).values(), () => {
      const account = accounts[sent % accounts.length];
      sent += 1;
      if (account) submit(account);
    });
    reconcileEachMinute(time, service);

    let mostOpen = 0;
    let latestOpenMillis = Number.NEGATIVE_INFINITY;
    let atTheEnd: readonly Followed[] | undefined;
    let steps = 0;
    const end = last + outage.deadlineSeconds * 1000 + 3 * minuteMillis;
    while (time.now() < last || (open.size > 0 && time.now() < end)) {
      if (!(await time.step())) break;
      if (atTheEnd === undefined && time.now() >= to)
        atTheEnd = [...open].flatMap((id) => followed.get(id) ?? []);
      steps += 1;
      if (steps % 5_000 !== 0) continue;
      mostOpen = Math.max(mostOpen, open.size);
      if (world.trace.length > longestTrace) world.trace.length = 0;
      world.injected.length = 0;
      for (const id of open)
        latestOpenMillis = Math.max(latestOpenMillis, time.now() - (followed.get(id)?.deadlineAt ?? 0));
    }
    // The last executions end a moment after their creations.
    for (let idle = 0; idle < 20_000 && world.live.size > 0; idle += 1) await time.step();
    const all = [...followed.values()];
    for (const { endedAt = time.now(), deadlineAt } of all)
      latestOpenMillis = Math.max(latestOpenMillis, endedAt - deadlineAt);
    const hadTime = (atTheEnd ?? []).filter(({ deadlineAt }) => deadlineAt - to >= enoughMillis);
    const ordinary = all.filter(({ acceptedAt }) => acceptedAt >= to);
    const waits = ordinary
      .map(({ acceptedAt, endedAt = Infinity }) => endedAt - acceptedAt)
      .sort((one, other) => one - other);
    const differences = await auditTable(service.table, service.store);
    return {
      accepted: all.length,
      acceptedInOutage: all.filter(({ acceptedAt }) => acceptedAt >= from && acceptedAt < to).length,
      mostOpen,
      latestOpenSeconds: latestOpenMillis / 1000,
      stillOpen: open.size,
      refunded: all.filter(({ isCompleted }) => isCompleted === false).length,
      givenUp: all.filter(({ isGivenUp }) => isGivenUp === true).length,
      openAtTheEnd: atTheEnd?.length ?? 0,
      hadTime: hadTime.length,
      hadTimeCompleted: hadTime.filter(({ isCompleted }) => isCompleted === true).length,
      ordinary: ordinary.length,
      ordinaryCompleted: ordinary.filter(({ isCompleted }) => isCompleted === true).length,
      ordinarySlowestSeconds: [0.5, 0.95, 0.99, 1].map(
        (share) => (waits[Math.ceil(share * waits.length) - 1] ?? Number.NaN) / 1000,
      ),
      differences: differences.map((difference) => JSON.stringify(difference)),
    };
  } finally {
    time.end();
  }
}

/** What the issue promises of an outage. One line for each promise that the report breaks. */
export function brokenPromises(report: OutageReport): string[] {
  const lines: readonly (readonly [isKept: boolean, line: string])[] = [
    [report.stillOpen === 0, `${report.stillOpen} creations are still open`],
    [
      report.latestOpenSeconds <= latestOpenSeconds,
      `a creation was open ${report.latestOpenSeconds} s after its deadline`,
    ],
    [report.givenUp === 0, `${report.givenUp} creations were given up while they had time`],
    [
      report.hadTime > 0 && report.hadTimeCompleted >= completedShare * report.hadTime,
      `${report.hadTimeCompleted} of ${report.hadTime} creations with 60 s left were completed`,
    ],
    [
      report.ordinary > 0 && report.ordinaryCompleted === report.ordinary,
      `${report.ordinaryCompleted} of ${report.ordinary} creations after the outage were completed`,
    ],
    ...report.differences.map((difference) => [false, difference] as const),
  ];
  return lines.flatMap(([isKept, line]) => (isKept ? [] : [line]));
}

function observerOf(
  world: World,
  followed: ReadonlyMap<string, Followed>,
  open: Set<string>,
): Partial<ServiceObserver> {
  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { pk, sk, after } of changes) {
        const status = after?.['status']?.S;
        if (sk !== 'CREATION' || (status !== 'completed' && status !== 'failed')) continue;
        const id = pk.slice('CREATION#'.length);
        if (!open.delete(id)) continue;
        const creation = followed.get(id);
        if (!creation) continue;
        creation.endedAt = world.time.now();
        creation.isCompleted = status === 'completed';
        creation.isGivenUp = status === 'failed' && after?.['failure']?.S !== 'GenerationTimedOut';
      }
    },
  };
}

/** Charges and starts a creation as POST /images/generate does after its checks. */
function createSubmitter(
  world: World,
  service: Service,
  { deadlineSeconds, renderSeconds }: Outage,
  followed: Map<string, Followed>,
  open: Set<string>,
): (account: AccountHeld) => void {
  const charges = createChargeStore(service.store);
  const log = { info: () => undefined, alarm: () => undefined };
  // No account of the outage gets notices.
  const noticeExecutions = { start: () => Promise.resolve('unclear' as const) };
  const services = { ...service.operator, charges, log, schema, noticeExecutions };
  return (account) => {
    void world.invoke('generate', 29_000, async () => {
      const nowMillis = world.now();
      const creation = newCreation(account, nowMillis, world, { deadlineSeconds, renderSeconds });
      const outcome = await charges.charge({
        creations: [creation],
        apiKey: withoutCaps(creation),
        maxConcurrent: 100_000,
        nowMillis,
      });
      if (outcome.kind !== 'charged') throw new Error(`the charge was not made: ${outcome.kind}`);
      followed.set(creation.id, { acceptedAt: nowMillis, deadlineAt: creation.deadlineAt });
      open.add(creation.id);
      await startCreation(creation, services);
    });
  };
}

/** The key of the creation. Here a charge reads no more of a key than its caps. */
function withoutCaps({ accountId, keyId, createdAt }: NewCreation): ApiKey {
  return { id: keyId, accountId, name: 'server', hash: '', createdAt, spent: {}, spentByDay: {} };
}

function newCreation(
  { id: accountId, keys: [key] }: AccountHeld,
  nowMillis: number,
  { randomBytes }: World,
  { deadlineSeconds, renderSeconds }: Pick<Outage, 'deadlineSeconds' | 'renderSeconds'>,
): NewCreation {
  if (!key) throw new Error('an account has a key');
  return {
    id: uuidV7(nowMillis, randomBytes(16)) as CreationId,
    accountId,
    keyId: key.id,
    status: 'queued',
    model: 'sandbox-sketch',
    prompt: `a lake [sandbox:delay=${renderSeconds}s]`,
    resolution: '1K',
    aspectRatio: '1:1',
    outputFormat: 'png',
    seed: null,
    sources: [],
    metadata: {},
    costMicros,
    refundedMicros: asMicros(0),
    chargedMonth: monthOf(nowMillis),
    chargedDay: dayOf(nowMillis),
    createdAt: new Date(nowMillis).toISOString(),
    deadlineAt: nowMillis + deadlineSeconds * 1000,
    results: [],
    routes: [{ provider: 'sandbox', providerModel: 'sketch' }],
    attempts: [],
    executions: 1,
    recoveries: 0,
    dueAt: nowMillis + startGraceMillis,
  };
}

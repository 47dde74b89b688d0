/**
 * One run over everything that is due, until nothing is left or the time is up. First it reads all shards
 * concurrently, a page at a time, and does the work that needs no start: refunds come before starts. Then it
 * starts the remaining executions, the earliest deadline first.
 */
import type { CreationRecord } from '../creations/creation.ts';
import { type CreationId, type NoticeId, parseNoticeId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { ReconcileServices } from './open.ts';
import { type Action, nextStep, recover, recoverNotice, type RecoverServices } from './recover.ts';
import { atOnce, createStartPace, paceBeside } from './start-pace.ts';

/** Limits the number of tasks that run at once. The others wait in the order in which they came. */
export function createSlots(most: number): (task: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return async (task) => {
    if (taken >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken += 1;
    try {
      await task();
    } finally {
      // The slot goes to the next task, or becomes free.
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    }
  };
}

/** The time that is kept for running calls when the time is up. */
const reserveMillis = 6_000;
/** The longest time of a run (lib/service.ts). After it, a dead run no longer blocks the starts. */
const longestRunMillis = 55_000;
const writesAtOnce = 24;
const startsAtOnce = 48;
const questionsAtOnce = 8;
/** DescribeExecution allows 15 a second in large regions and 10 in others. */
const questionsPerSecond = 9;
const readAtOnce = 50;
/** The window, in milliseconds, from which the rate of ordinary starts is computed. */
const spanMillis = 5_000;
/** A creation with less time comes last: it would only delay those that can still be rendered. */
const leastUsefulMillis = 20_000;
/** A webhook has no deadline, and comes after every creation that has one. */
const noDeadline = Number.MAX_SAFE_INTEGER;

export interface Tally {
  looked: number;
  started: number;
  refunded: number;
}

interface Waiting {
  readonly id: CreationId;
  readonly deadlineAt: number;
}

interface Round {
  readonly begunAt: number;
  readonly timeLeft: () => number;
  readonly isOver: () => boolean;
  readonly tally: Tally;
  readonly toStart: Waiting[];
  readonly toAsk: Waiting[];
  readonly toNotify: NoticeId[];
}

/** @param timeLeft the milliseconds until Lambda ends the function */
export async function drain(services: ReconcileServices, timeLeft: () => number): Promise<Tally> {
  const round: Round = {
    begunAt: services.clock.now(),
    timeLeft,
    isOver: () => timeLeft() <= reserveMillis,
    tally: { looked: 0, started: 0, refunded: 0 },
    toStart: [],
    toAsk: [],
    toNotify: [],
  };
  const slots = createSlots(writesAtOnce);
  const lists = services.openWork.overdue(round.begunAt);
  await Promise.all(lists.map((pages) => readShard(pages, slots, round, services)));
  if (waitingIn(round) > 0 && !round.isOver())
    await safely({}, services, () => startWhatWaits(round, services));
  return round.tally;
}

function waitingIn({ toStart, toAsk, toNotify }: Round): number {
  return toStart.length + toAsk.length + toNotify.length;
}

async function readShard(
  pages: AsyncIterable<readonly (CreationId | NoticeId)[]>,
  slots: ReturnType<typeof createSlots>,
  round: Round,
  services: ReconcileServices,
): Promise<void> {
  await safely({}, services, async () => {
    for await (const page of pages) {
      round.tally.looked += page.length;
      const notices = page.flatMap((id) => parseNoticeId(id) ?? []);
      round.toNotify.push(...notices);
      const ids = page.filter((id): id is CreationId => !notices.some((notice) => notice === id));
      const creations = (await safely({}, services, () => readDue(ids, services))) ?? [];
      await Promise.all(creations.map((creation) => slots(() => check(creation, round, services))));
      if (round.isOver()) break;
    }
  });
}

/** The creations that are still due by their records. The index may lag behind the records. */
async function readDue(
  ids: readonly CreationId[],
  { creations, clock }: ReconcileServices,
): Promise<readonly CreationRecord[]> {
  const records = await creations.readAll(ids);
  return records.filter(({ dueAt }) => dueAt !== undefined && dueAt <= clock.now());
}

/** Handles a creation that needs no start at once. Any other goes into its queue. */
async function check(creation: CreationRecord, round: Round, services: ReconcileServices): Promise<void> {
  const { id, deadlineAt } = creation;
  const step = nextStep(creation, services.clock.now());
  if (step.kind === 'ask') round.toAsk.push({ id, deadlineAt });
  else if (step.kind === 'start') round.toStart.push({ id, deadlineAt });
  else if (step.kind === 'start_next') round.toStart.push({ id, deadlineAt: noDeadline });
  else {
    const calm = { ...services, starts: atOnce, questions: atOnce };
    count(creation, await safely({ creationId: id }, services, () => recover(creation, step, calm)), round);
  }
}

function count({ id }: CreationRecord, action: Action | undefined, { tally, toStart }: Round): void {
  if (action === 'started') tally.started += 1;
  if (action === 'refunded' || action === 'announce') tally.refunded += 1;
  if (action === 'announce') toStart.push({ id, deadlineAt: noDeadline });
}

/** Starts and describes executions, unless another run does. Two runs would start at twice the pace. */
async function startWhatWaits(round: Round, services: ReconcileServices): Promise<void> {
  const { openWork, clock, startsPerSecond, randomBytes, log } = services;
  const { toStart, toAsk, toNotify, isOver } = round;
  const holder = Buffer.from(randomBytes(8)).toString('hex');
  const now = clock.now();
  const until = now + Math.min(round.timeLeft(), longestRunMillis);
  if (!(await openWork.holdStarts(holder, until, now))) {
    log.info('starts_held_by_another_run', { waiting: waitingIn(round) });
    return;
  }
  try {
    // Work that this run has postponed is due later than a grace period after its beginning, and does not
    // count.
    const ordinary = (await openWork.acceptedLately(round.begunAt, spanMillis)) / (spanMillis / 1000);
    const starts = createStartPace(clock, paceBeside(ordinary, startsPerSecond), isOver);
    const questions = createStartPace(clock, questionsPerSecond, isOver);
    const paced = { ...services, starts, questions };
    toStart.sort((one, other) => one.deadlineAt - other.deadlineAt);
    await Promise.all([
      work(toStart, startsAtOnce, round, paced),
      work(toAsk, questionsAtOnce, round, paced),
    ]);
    await sendNotices(toNotify, round, paced);
  } finally {
    await openWork.releaseStarts(holder);
  }
}

/** Notices come after creations. They are few: many creations that pass a threshold cause one notice. */
async function sendNotices(ids: readonly NoticeId[], round: Round, services: RecoverServices): Promise<void> {
  for (const id of ids) {
    if (round.isOver()) return;
    const action = await safely({ noticeId: id }, services, async () => {
      const [notice] = await services.notices.readAll([id]);
      return notice && recoverNotice(notice, services);
    });
    if (action === 'started') round.tally.started += 1;
  }
}

async function work(
  waiting: readonly Waiting[],
  workers: number,
  round: Round,
  services: RecoverServices,
): Promise<void> {
  const creations = readAgain(waiting, services);
  const run = async (): Promise<void> => {
    while (!round.isOver()) {
      const next = await creations.next();
      if (next.done === true) return;
      const creation = next.value;
      const step = nextStep(creation, services.clock.now());
      const ids = { creationId: creation.id };
      count(creation, await safely(ids, services, () => recover(creation, step, services)), round);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, waiting.length) }, run));
}

/** Reads each creation again just before it is handled, since it may have waited behind other work. */
async function* readAgain(
  waiting: readonly Waiting[],
  services: ReconcileServices,
): AsyncGenerator<CreationRecord, undefined> {
  const hopeless: Waiting[] = [];
  for (let from = 0; from < waiting.length; from += readAtOnce) {
    const hopeAfter = services.clock.now() + leastUsefulMillis;
    const next = waiting.slice(from, from + readAtOnce);
    hopeless.push(...next.filter(({ deadlineAt }) => deadlineAt < hopeAfter));
    yield* readTogether(next.filter(({ deadlineAt }) => deadlineAt >= hopeAfter));
  }
  for (let from = 0; from < hopeless.length; from += readAtOnce)
    yield* readTogether(hopeless.slice(from, from + readAtOnce));
  return undefined;

  async function* readTogether(some: readonly Waiting[]): AsyncGenerator<CreationRecord> {
    if (some.length === 0) return;
    const ids = some.map(({ id }) => id);
    yield* (await safely({}, services, () => services.creations.readAll(ids))) ?? [];
  }
}

/** An error at one creation, page or shard must not stop the work on the others. */
async function safely<Result>(
  fields: Readonly<Record<string, string>>,
  { log }: ReconcileServices,
  task: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await task();
  } catch (error) {
    log.alarm('reconcile_failed', { ...fields, error: errorName(error) });
    return undefined;
  }
}

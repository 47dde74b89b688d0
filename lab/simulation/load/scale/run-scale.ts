/**
 * A load on virtual time: requests come at a rate, the real functions serve them under the limits of AWS, and the
 * clients poll or take their webhooks. Nothing fails except what a limit refuses.
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { defaultLimits } from '../../../../service/contract/limits.ts';
import { webhookSecret } from '../../../../service/webhooks/webhook.ts';
import { type AwsAccount, createAwsAccount } from '../../aws/aws-account.ts';
import { createService, type Service } from '../../aws/deployed-service.ts';
import { type Change, tableName } from '../../aws/simulated-table.ts';
import { type AccountHeld, openAccount } from '../../clients/open-accounts.ts';
import { createStream } from '../../world/dice.ts';
import { takeTime, type VirtualTime } from '../../world/time.ts';
import { createLeanClients, marshalItem } from '../fast/fast-clients.ts';
import { createLoadWorld } from '../fast/load-world.ts';
import { arrivals, evenly, reconcileEachMinute, sendAt, unlimited } from '../traffic.ts';
import type { LoadProgress } from '../run-load.ts';
import { auditWithArchive, createArchive, createForgetter } from './history.ts';
import { createScaleClients, createScaleOutbound } from './scale-clients.ts';
import { costOf, type ScalePlan, type ScaleReport, percentiles, Tally } from './scale-measures.ts';

const startAt = Date.UTC(2026, 10, 21, 12, 0, 30);
const leapsPerCheck = 2_000;
const deadlineSeconds = 300;
/** How long the service counts as full after it has refused a request for that. */
const fullMillis = 1_000;
const shares = [0.5, 0.99, 1] as const;

/** Runs a load until every creation has ended and every client knows it. */
export async function runScale(
  plan: ScalePlan,
  tell: (progress: LoadProgress) => void = () => undefined,
): Promise<ScaleReport> {
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
  plan: ScalePlan,
  tell: (progress: LoadProgress) => void,
): Promise<ScaleReport> {
  const { seed, lengthSeconds, renderSeconds, holdMillis } = plan;
  const world = createLoadWorld({ seed, time, holdMillis });
  const account = createAwsAccount(time.now, plan.aws, plan.warm);
  const counted = {
    requests: 0,
    accepted: 0,
    failed: 0,
    polls: 0,
    unclear: 0,
    mostOpen: 0,
    refused: new Tally(),
    refusedPolls: new Tally(),
    strangerAnswers: new Tally(),
    image: [] as number[],
    seen: [] as number[],
  };
  const open = new Map<string, number>();
  /** Open creations: the fewest when a request was refused as full, the most when one was accepted in that time. */
  const full = { atRefusal: Infinity, atAccept: 0, until: 0 };
  const clients = createScaleClients(world, () => service, plan, {
    onAnswer: (answer) => {
      if (isFull(answer)) {
        full.atRefusal = Math.min(full.atRefusal, open.size);
        full.until = time.now() + fullMillis;
      }
      counted.requests += 1;
      if (answer.statusCode === 202) counted.accepted += 1;
      else counted.refused.add(reasonOf(answer));
    },
    onPoll: (answer) => {
      counted.polls += 1;
      if (answer.statusCode !== 200) counted.refusedPolls.add(reasonOf(answer));
    },
    onSeen: (sentAt) => {
      counted.seen.push(time.now() - sentAt);
    },
  });
  const archive = createArchive();
  const forgetter = createForgetter({
    now: time.now,
    table: () => service.table,
    account,
    archive,
    isAwaited: clients.isPolled,
  });
  const onCommit = (changes: readonly Change[]): void => {
    forgetter.onCommit(changes);
    for (const { pk, sk, before, after } of changes) {
      if (sk !== 'CREATION' || !after) continue;
      if (!before) {
        if (time.now() < full.until) full.atAccept = Math.max(full.atAccept, open.size);
        open.set(pk, time.now());
        counted.mostOpen = Math.max(counted.mostOpen, open.size);
      }
      const status = after['status']?.S;
      if (status !== 'completed' && status !== 'failed') continue;
      const acceptedAt = open.get(pk);
      if (acceptedAt === undefined) continue;
      open.delete(pk);
      if (status === 'completed') counted.image.push(time.now() - acceptedAt);
      else counted.failed += 1;
    }
  };
  const millis = renderSeconds * 1000;
  const service: Service = createService(
    world,
    {
      onCommit,
      onText: (text) => {
        if (text.includes('"start_unclear"')) counted.unclear += 1;
      },
    },
    {
      forecast: () => ({ kind: 'up', least: 0.8 * millis, most: 1.2 * millis }),
      vendorHabits: {
        early: 0,
        forged: 0,
        late: 0,
        lost: 0,
        twice: 0,
        verySlow: 0,
        refused: 0,
        jobMillis: [0.8 * millis, 1.2 * millis],
      },
      startsPerSecond: plan.aws.steps.startExecution.perSecond,
      startBurst: plan.aws.steps.startExecution.burst,
      serviceCapacity: plan.serviceCapacity,
      load: {
        account,
        createClients: createLeanClients,
        outbound: createScaleOutbound(world, clients.onWebhook),
      },
    },
  );
  const held: AccountHeld[] = [];
  account.table()?.free(() => {
    for (let index = 0; index < plan.accounts; index += 1)
      held.push(openAccount(accountPlan(plan), index, world, service));
  });
  await during(time, issueSecrets(held, service, account));
  // A service that is deployed has counted its open creations before.
  await during(time, service.reconcile({}));
  sendAll(time, plan, held, clients.send);
  if (plan.stranger)
    sendAt(time, startAt, evenly(plan.stranger.perSecond, lengthSeconds), () => {
      void clients.sendAsStranger().then((answer) => counted.strangerAnswers.add(reasonOf(answer)));
    });
  reconcileEachMinute(time, service);

  const last = startAt + lengthSeconds * 1000;
  const end = last + (deadlineSeconds + 180) * 1000;
  const isGoingOn = (): boolean =>
    time.now() < last ||
    ((open.size > 0 || world.live.size > 0 || clients.waiting() > 0) && time.now() < end);
  for (let leaps = 1; isGoingOn(); leaps += 1) {
    if (!(await time.leap())) break;
    if (leaps % leapsPerCheck !== 0) continue;
    forgetter.sweep();
    tell({
      seconds: Math.round((time.now() - startAt) / 1000),
      ofSeconds: lengthSeconds,
      accepted: counted.accepted,
      open: open.size,
    });
  }
  const costs = costOf(account, counted.image.length);
  const { differences, ...audited } = await auditWithArchive(service.table, service.store, archive);
  const seconds = (of: readonly number[]): number[] => percentiles(of, shares).map((one) => one / 1000);
  return {
    plan,
    requests: counted.requests,
    accepted: counted.accepted,
    refused: counted.refused.toRecord(),
    refusedPolls: counted.refusedPolls.toRecord(),
    strangerAnswers: counted.strangerAnswers.toRecord(),
    completed: counted.image.length,
    failed: counted.failed,
    stillOpen: open.size,
    clientsStillWaiting: clients.waiting(),
    startsUnclear: counted.unclear,
    imageSeconds: seconds(counted.image),
    seenSeconds: seconds(counted.seen),
    limits: [...account.refusals]
      .map(([limit, { count, firstAt }]) => ({ limit, count, firstAtSeconds: (firstAt - startAt) / 1000 }))
      .sort((one, other) => one.firstAtSeconds - other.firstAtSeconds),
    peakConcurrency: account.functions.peaks().all,
    peakByFunction: account.functions.peaks().byFunction,
    mostOpen: counted.mostOpen,
    ...(full.until > 0 && {
      openShares: [full.atRefusal / plan.serviceCapacity, full.atAccept / plan.serviceCapacity],
    }),
    polls: counted.polls,
    costPerThousand: (costs / Math.max(1, counted.image.length)) * 1000,
    ...(account.table()?.used() ?? { writeUnits: 0, readUnits: 0 }),
    audited,
    differences: differences.map((difference) => JSON.stringify(difference)),
  };
}

/** Every account signs its webhooks: without a secret the service sends none. */
async function issueSecrets(
  held: readonly AccountHeld[],
  { operator, table }: Service,
  account: AwsAccount,
): Promise<void> {
  for (const { id } of held) {
    const sealed = await operator.secretBox.seal(id, webhookSecret(operator.randomBytes(32)));
    const key = { pk: { S: `ACCOUNT#${id}` }, sk: { S: 'ACCOUNT' } };
    const secrets = marshalItem({ ':secrets': [{ sealed, issuedAt: operator.clock.now() }] });
    account.table()?.free(() => {
      table.perform('UpdateItem', {
        TableName: tableName,
        Key: key,
        UpdateExpression: 'SET webhookSecrets = :secrets',
        ExpressionAttributeValues: secrets,
      });
    });
  }
}

/** Lets time pass until the work is done. */
async function during(time: VirtualTime, work: Promise<unknown>): Promise<void> {
  const state = { isDone: false };
  void work.then(() => {
    state.isDone = true;
  });
  while (!state.isDone) if (!(await time.leap())) await time.settle();
}

function accountPlan({ limits = defaultLimits }: ScalePlan): Parameters<typeof openAccount>[0] {
  return {
    ...unlimited,
    maxConcurrent: limits.maxConcurrent,
    deadlineSeconds,
    postRate: limits.postRate,
    getRate: limits.getRate,
  };
}

/** Sends the requests of all clients, each from an account at random. */
function sendAll(
  time: VirtualTime,
  { seed, perSecond, lengthSeconds }: ScalePlan,
  held: readonly AccountHeld[],
  send: (account: AccountHeld, sentAt: number) => Promise<void>,
): void {
  const moments = arrivals(seed, () => perSecond, lengthSeconds * 1000);
  const stream = createStream(seed + 1);
  sendAt(time, startAt, moments, () => {
    const account = held[Math.floor(stream() * held.length)];
    if (account) void send(account, time.now());
  });
}

function isFull({ statusCode, body = '' }: APIGatewayProxyStructuredResultV2): boolean {
  return statusCode === 429 && body.includes('"reason":"capacity"');
}

/** The status, and what the envelope says. The gateway's own answers have no envelope. */
function reasonOf({ statusCode = 0, body = '' }: APIGatewayProxyStructuredResultV2): string {
  const reason = /"reason":"(\w+)"/.exec(body)?.[1];
  const code = /"code":"(\w+)"/.exec(body)?.[1];
  return [statusCode, reason ?? code ?? 'gateway'].join(' ');
}

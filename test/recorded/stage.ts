/** Where requests are played: a service whose clock stands, and the other servers that it speaks to. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { startImageOrigin, type ImageOrigin } from '../whole/image-origin.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../fixtures/service.ts';
import { startReceiver, type Receiver } from '../whole/workflow/receiver.ts';

/** Keeps work back while it is shut. */
export interface Gate {
  shut(): void;
  open(): void;
  readonly passed: () => Promise<void>;
}

export interface Stage {
  readonly service: TestService;
  readonly origin: ImageOrigin;
  readonly receiver: Receiver;
  /** No rendering begins, so that a creation stays queued. */
  readonly rendering: Gate;
  /** No image is stored, so that a creation stays processing. */
  readonly storing: Gate;
  /** The instant at which the clock was first stopped, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Lets one millisecond pass: ids and rows then sort by the order of the requests. */
  tick(): void;
  /** Moves the clock within the minute. What waits for a deadline sees it; no scheduled job runs. */
  leap(seconds: number): void;
  /** Lets time pass, with all that falls due in it. Afterwards the clock stands again, in a new minute. */
  pass(seconds: number): Promise<void>;
  /** How many creations are open in the whole service, as the reconciler would have counted them. */
  countOpen(open: number): Promise<void>;
  end(): Promise<void>;
}

export async function setStage(options: TestServiceOptions): Promise<Stage> {
  const [service, origin, receiver] = await Promise.all([
    startTestService(options),
    startImageOrigin(),
    startReceiver(),
  ]);
  const [rendering, storing] = [createGate(), createGate()];
  service.machine.interceptAws(async (call, serve) => {
    if (call.caller.startsWith('RenderImage')) await rendering.passed();
    if (call.caller.startsWith('RenderImage') && call.operation === 'PutObject') await storing.passed();
    return serve();
  });
  const move = (millis: number): void => {
    service.machine.clock.jumpTo(service.machine.clock.now() + millis);
  };
  const startedAt = await standInMinute(service);
  return {
    service,
    origin,
    receiver,
    rendering,
    storing,
    startedAt,
    tick: () => {
      move(1);
    },
    leap: (seconds) => {
      move(seconds * 1_000);
    },
    pass: async (seconds) => {
      await service.machine.advance(seconds);
      await standInMinute(service);
    },
    countOpen: async (open) => {
      const { client, name } = service.operator.table;
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.service(),
          UpdateExpression: 'SET openCreations = :open',
          ExpressionAttributeValues: { ':open': open },
        }),
      );
    },
    end: async () => {
      await Promise.all([origin.close(), receiver.close()]);
      await service.end();
    },
  };
}

const minuteMillis = 60_000;
const dayMillis = 86_400_000;
/** The time flows for a moment behind an advance. This is longer than that moment on any machine. */
const marginMillis = 30_000;

/**
 * Stops the clock half a minute behind the beginning of a minute. All requests then count in one window
 * of the rates. On the last day of a month it goes on to the next month: no budget may turn meanwhile.
 */
async function standInMinute({ machine: { clock, advance } }: TestService): Promise<number> {
  const now = clock.freeze();
  const minute = (Math.floor(now / minuteMillis) + 1) * minuteMillis;
  const isLastDay = new Date(minute + dayMillis).getUTCMonth() !== new Date(minute).getUTCMonth();
  const target = isLastDay ? minute + dayMillis : minute;
  // An advance, since it runs the scheduled jobs now: otherwise they run later, amid the requests.
  await advance((target - now) / 1_000);
  clock.freeze();
  clock.jumpTo(target + marginMillis);
  // The operator's command reads the clock's offset, which the clock keeps only while it flows.
  clock.thaw();
  return clock.freeze();
}

/** Groups that are played side by side may all shut it: it is open when each has opened it again. */
function createGate(): Gate {
  let holders = 0;
  let shut: PromiseWithResolvers<undefined> | undefined;
  return {
    shut: () => {
      holders += 1;
      shut ??= Promise.withResolvers<undefined>();
    },
    open: () => {
      holders -= 1;
      if (holders > 0) return;
      shut?.resolve(undefined);
      shut = undefined;
    },
    passed: async () => {
      await shut?.promise;
    },
  };
}

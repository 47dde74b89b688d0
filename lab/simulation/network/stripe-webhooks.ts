/**
 * The events of Stripe on their way: lost, sent five times, in the reverse order, days late, signed with another secret
 * while the operator rolls it, and forged.
 */
import { createHmac } from 'node:crypto';
import type { World } from '../world/simulated-world.ts';

/** An event as it arrives. */
export interface SentEvent {
  readonly signature: string | undefined;
  readonly body: string;
  /** Why no answer may take the event. Undefined: Stripe sent it. */
  readonly forgery: Forgery | undefined;
}

export type Forgery = 'altered' | 'unsigned' | 'old scheme' | 'another secret' | 'stale' | 'other mode';

export interface WebhookHabits {
  /** No event ever arrives. */
  readonly losesAll: boolean;
  readonly lost: number;
  readonly fiveTimes: number;
  readonly late: number;
  readonly forged: number;
  /** All events of ten seconds come together, the newest first. */
  readonly reverses: boolean;
  /** How late an event can be, in milliseconds. */
  readonly lateBy: readonly [number, ...number[]];
}

const repeatsAfter = [300_000, 3_600_000, 10_800_000] as const;
const reversedEvery = 10_000;
const staleSeconds = 600;
const foreignSecret = 'whsec_of_somebody_else';
const forgeries: readonly [Forgery, ...Forgery[]] = [
  'altered',
  'unsigned',
  'old scheme',
  'another secret',
  'stale',
  'other mode',
];

export function createWebhookSender(
  world: World,
  receive: (sent: SentEvent) => Promise<number>,
  habits: WebhookHabits,
) {
  const { dice } = world;
  let count = 0;
  let due = 0;
  let secrets: readonly string[] = ['whsec_first_of_the_simulation'];
  let waiting: string[] = [];

  function later(millis: number, work: () => Promise<unknown>): void {
    due += 1;
    world.time.after(millis, () => {
      world.outside(
        () =>
          void work().finally(() => {
            due -= 1;
          }),
      );
    });
  }

  function sign(body: string, by: readonly string[], at = world.time.now(), scheme = 'v1'): string {
    const time = Math.floor(at / 1_000);
    const signatures = by.map(
      (secret) => `${scheme}=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
    );
    return [`t=${time}`, ...signatures].join(',');
  }

  function forged(body: string, forgery: Forgery): SentEvent {
    switch (forgery) {
      case 'altered': {
        const signature = sign(body, secrets);
        return { forgery, signature, body: body.replace('"evt_', '"evt_x') };
      }
      case 'unsigned':
        return { forgery, signature: undefined, body };
      case 'old scheme':
        return { forgery, signature: sign(body, secrets, world.time.now(), 'v0'), body };
      case 'another secret':
        return { forgery, signature: sign(body, [foreignSecret]), body };
      case 'stale':
        return { forgery, signature: sign(body, secrets, world.time.now() - staleSeconds * 1_000), body };
      case 'other mode': {
        const live = body.replaceAll('"livemode": false', '"livemode": true');
        return { forgery, signature: sign(live, secrets), body: live };
      }
    }
  }

  /** Sends an event until it is taken, or Stripe gives up. */
  async function deliver(name: string, body: string, tries = 0): Promise<void> {
    // While the operator rolls the secret, Stripe signs with both, or already with the new one alone.
    const by = dice.chance(`${name} signed by one, try ${tries}`, 0.3) ? secrets.slice(0, 1) : secrets;
    const status = await receive({ signature: sign(body, by), body, forgery: undefined });
    const wait = repeatsAfter[tries];
    if ((status >= 200 && status < 300) || wait === undefined) return;
    world.noteIncident('event of Stripe repeated');
    later(wait, () => deliver(name, body, tries + 1));
  }

  function plan(name: string, body: string): void {
    if (dice.chance(`${name} forged`, habits.forged)) {
      const forgery = dice.pick(`${name} forgery`, forgeries);
      world.noteIncident(`event of Stripe ${forgery}`);
      later(dice.between(`${name} forged after`, 0, 2_000), () => receive(forged(body, forgery)));
    }
    if (dice.chance(`${name} lost`, habits.lost)) {
      world.noteIncident('event of Stripe lost');
      return;
    }
    const isLate = dice.chance(`${name} late`, habits.late);
    if (isLate) world.noteIncident('event of Stripe late');
    // At once: before the answer to the call that caused it.
    const wait = isLate
      ? dice.pick(`${name} late by`, habits.lateBy)
      : dice.pick(`${name} after`, [0, 0, 10, 400, 3_000]);
    const times = dice.chance(`${name} five times`, habits.fiveTimes) ? 5 : 1;
    if (times > 1) world.noteIncident('event of Stripe five times');
    for (let time = 0; time < times; time += 1)
      later(wait + (time === 0 ? 0 : dice.pick(`${name} again ${time}`, [0, 5, 700, 60_000])), () =>
        deliver(`${name} ${time}`, body),
      );
  }

  function flush(): void {
    const all = waiting.toReversed();
    waiting = [];
    world.noteIncident('events of Stripe reversed');
    for (const body of all) {
      count += 1;
      plan(`stripe event ${count}`, body);
    }
  }

  return {
    /** The secrets with which Stripe signs now, the newest first. */
    secrets: (): readonly string[] => secrets,
    signWith: (next: readonly string[]): void => void (secrets = next),
    /** Whether events are still on their way. */
    isSending: (): boolean => due > 0 || waiting.length > 0,
    send: (body: string): void => {
      if (habits.losesAll) {
        world.noteIncident('every event of Stripe lost');
        return;
      }
      if (habits.reverses) {
        waiting.push(body);
        if (waiting.length === 1) world.time.after(reversedEvery, flush);
        return;
      }
      count += 1;
      plan(`stripe event ${count}`, body);
    },
  };
}

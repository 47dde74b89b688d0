/**
 * The vendor that calls back when a job has ended. Its callbacks are lost, early, late, repeated, sent twice at once or
 * forged: without its key, by another account, for another job, with another capability.
 */
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { RefusalReason } from '../../../service/contract/failures.ts';
import type { CallbackRequest, CallbackVerdict, ProviderAnswer } from '../../../service/vendors/provider.ts';
import type { Dice } from '../world/dice.ts';
import type { World } from '../world/simulated-world.ts';
import { createStoppedJobs, pictures, type SimulatedProvider } from './providers.ts';

/** A callback as its vendor or a forger sends it. */
export interface SentCallback {
  readonly event: APIGatewayProxyEventV2;
  /** Why no answer may accept the callback. Undefined: the callback is genuine. */
  readonly forgery: string | undefined;
}

interface Job {
  readonly id: string;
  readonly url: string | undefined;
  readonly endsAt: number;
  readonly refusal: RefusalReason | undefined;
}

/** What stands in the body of a callback. The simulation does without signatures. */
interface Claim {
  readonly job: string;
  readonly account: string;
  readonly signedBy: string;
}

/** The model that the vendor renders. */
export const callingModel = 'flux-2-klein-4b';
/** The vendor that calls back. Its model has a second route, which needs no callback. */
export const callingVendor = 'replicate';
const pollMillis = 2_000;
/** Milliseconds before each repetition of a callback that was not taken. */
const repeatsAfter = [15_000, 120_000, 120_000] as const;
const refusals: readonly [RefusalReason, ...RefusalReason[]] = ['unavailable', 'prompt', 'failed'];

/** How often the vendor does what it should not, and how long its jobs take. */
export interface VendorHabits {
  readonly early: number;
  readonly forged: number;
  readonly late: number;
  readonly lost: number;
  readonly twice: number;
  readonly verySlow: number;
  readonly refused: number;
  readonly jobMillis: readonly [least: number, most: number];
}

const badHabits: VendorHabits = {
  early: 0.15,
  forged: 0.4,
  late: 0.15,
  lost: 0.25,
  twice: 0.2,
  verySlow: 0.15,
  refused: 0.25,
  jobMillis: [200, 20_000],
};

/** @param send sends a callback, and gives the status of its answer, or 0 when none came */
export function createCallingVendor(
  world: World,
  send: (sent: SentCallback) => Promise<number>,
  habits: VendorHabits = badHabits,
) {
  const { dice } = world;
  const all = new Map<string, Job>();
  let due = 0;

  /** Runs later, also when the invocation that asked for it has ended. */
  function later(millis: number, work: () => Promise<unknown>): void {
    due += 1;
    world.outside(() =>
      setTimeout(
        () =>
          void work().finally(() => {
            due -= 1;
          }),
        millis,
      ),
    );
  }

  async function callBack(
    vendor: string,
    { id, url = '' }: Job,
    forged: Partial<Forged> = {},
  ): Promise<number> {
    const claim: Claim = { job: id, account: 'ours', signedBy: vendor, ...forged.claim };
    const [creation_id = '', own = ''] = url.split('/').slice(-2);
    if (forged.why !== undefined) world.noteIncident(`callback ${forged.why}`);
    return send({
      forgery: forged.why,
      event: {
        pathParameters: { provider: vendor, creation_id, capability: forged.capability ?? own },
        headers: {},
        body: JSON.stringify(claim),
        isBase64Encoded: false,
        requestContext: { requestId: '' },
      } as unknown as APIGatewayProxyEventV2,
    });
  }

  /** Calls back until the callback is taken, or the vendor gives up. */
  async function callUntilTaken(vendor: string, job: Job, tries = 0): Promise<void> {
    const status = await callBack(vendor, job);
    const wait = repeatsAfter[tries];
    if ((status >= 500 || status === 0) && wait !== undefined) {
      world.noteIncident('callback repeated');
      later(wait, () => callUntilTaken(vendor, job, tries + 1));
    }
  }

  function planCallbacks(vendor: string, job: Job): void {
    const own = (text: string): string => `${text} ${job.id}`;
    const millisToEnd = job.endsAt - world.time.now();
    const afterEnd = millisToEnd + dice.between(own('call after'), 0, 2_000);
    if (dice.chance(own('early'), habits.early)) {
      world.noteIncident('callback early');
      later(dice.between(own('early by'), 0, 60), () => callBack(vendor, job));
    }
    if (dice.chance(own('forged'), habits.forged)) {
      const forged = forgeryOf(dice, own('forgery'), vendor, job, [...all.values()]);
      // Some forged callbacks come at the moment of the genuine one.
      const at = dice.chance(own('forged then'), 0.5)
        ? afterEnd
        : dice.between(own('forged at'), 0, afterEnd);
      later(at, () => callBack(vendor, job, forged));
    }
    if (dice.chance(own('late'), habits.late)) {
      world.noteIncident('callback late');
      later(afterEnd + dice.pick(own('late by'), [20_000, 90_000, 400_000]), () => callBack(vendor, job));
    }
    if (dice.chance(own('lost'), habits.lost)) {
      world.noteIncident('callback lost');
      return;
    }
    later(afterEnd, () => callUntilTaken(vendor, job));
    if (dice.chance(own('twice'), habits.twice)) {
      world.noteIncident('callback twice at once');
      later(afterEnd + dice.pick(own('twice after'), [0, 3, 400]), () => callBack(vendor, job));
    }
  }

  /** The vendor calls back when it has stopped a job, too, and again at the time of which it knew before. */
  const stops = createStoppedJobs(
    world,
    (id) => all.get(id)?.endsAt,
    (id, millis) => {
      const job = all.get(id);
      if (job?.url !== undefined && dice.chance(`call of the stopped ${id}`, 0.7))
        later(millis + dice.between(`call after the stop ${id}`, 0, 1_000), () =>
          callUntilTaken(callingVendor, job),
        );
    },
  );

  function accept(vendor: string, url: string | undefined): Job {
    const id = `${vendor}-job-${all.size + 1}`;
    const millis = dice.chance(`slow ${id}`, habits.verySlow)
      ? dice.between(`very long ${id}`, 60_000, 200_000)
      : dice.between(`long ${id}`, ...habits.jobMillis);
    const refusal = dice.chance(`refused ${id}`, habits.refused)
      ? dice.pick(`refusal of ${id}`, refusals)
      : undefined;
    const job = { id, url, endsAt: world.time.now() + millis, refusal };
    all.set(id, job);
    if (url !== undefined) planCallbacks(vendor, job);
    return job;
  }

  function providerOf(name: string): SimulatedProvider {
    const ask = <Answer>(operation: string, signal: AbortSignal, work: () => Answer): Promise<Answer> =>
      world.call({ service: 'provider', operation, target: name, signal }, work);
    const stateOf = (id: string, format: string): ProviderAnswer => {
      const job = all.get(id);
      if (!job) return { kind: 'refused', reason: 'unknown_answer' };
      if (stops.isStopped(id)) return { kind: 'refused', reason: 'cancelled' };
      if (world.time.now() < job.endsAt) return { kind: 'pending', jobId: id, pollAfterMillis: pollMillis };
      return job.refusal === undefined
        ? { kind: 'rendered', bytes: pictures[format] ?? Buffer.alloc(0) }
        : { kind: 'refused', reason: job.refusal };
    };
    return {
      name,
      isStopped: stops.isStopped,
      submit: (job, signal) =>
        ask('submit', signal, () => ({
          kind: 'pending',
          jobId: accept(name, job.callbackUrl).id,
          pollAfterMillis: pollMillis,
        })),
      poll: (id, job, signal) => ask('poll', signal, () => stateOf(id, job.outputFormat)),
      cancel: (id, _job, signal) => ask('cancel', signal, () => stops.ask(id)),
      callback: {
        ready: () => Promise.resolve(true),
        verify: (request, _now, signal) =>
          ask('keys', signal, () => verdictOn(name, request)).catch((error: unknown) => {
            if (signal.aborted) throw error;
            return { kind: 'unverifiable' } as const;
          }),
        isJob: (accepted, called) => accepted === called,
      },
    };
  }

  return {
    provider: providerOf(callingVendor) /** How many jobs the vendor has accepted. */,
    jobs: (): number => all.size /** Whether the vendor will still call. */,
    isCalling: (): boolean => due > 0,
  };
}

interface Forged {
  readonly why: string;
  readonly claim: Partial<Claim>;
  readonly capability: string;
}

function forgeryOf(dice: Dice, name: string, vendor: string, job: Job, all: readonly Job[]): Partial<Forged> {
  const foreign = all.find(({ id, url }) => id !== job.id && url !== undefined && id.startsWith(vendor));
  const capability = foreign?.url?.split('/').at(-1) ?? 'A'.repeat(43);
  return dice.pick<Partial<Forged>>(name, [
    { why: 'without the key', claim: { signedBy: 'somebody' } },
    { why: 'of another account', claim: { account: 'another' } },
    { why: 'about another job', claim: { job: foreign?.id ?? `${vendor}-job-0` } },
    { why: 'with another capability', capability },
  ]);
}

/** The vendor's own scheme is tested with the adapters. Here only its result counts. */
function verdictOn(vendor: string, { body }: CallbackRequest): CallbackVerdict {
  const claim = JSON.parse(Buffer.from(body).toString()) as Claim;
  if (claim.signedBy !== vendor) return { kind: 'refused', why: 'the signature is wrong' };
  if (claim.account !== 'ours') return { kind: 'refused', why: 'another account' };
  return { kind: 'genuine', jobId: claim.job };
}

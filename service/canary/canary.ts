/**
 * The canary orders a picture of the sandbox as a client does: over the public address, with a key. It checks
 * what a customer would notice: the price, the acceptance and its replay, the picture, and the charge. A step that
 * fails is one line of the log. The alarm counts the runs that succeeded.
 */
import * as z from 'zod/mini';
import { errorName } from '../values/runtime.ts';
import { canaryModel } from './canary-account.ts';
import type { CanaryServices } from './open.ts';
import type { CanaryAnswer, PublicApi } from './public-api.ts';

export type CanaryStep =
  | 'set_up'
  | 'balance'
  | 'price'
  | 'accepted'
  | 'replayed'
  | 'completed'
  | 'picture'
  | 'charged';

export type CanaryReport =
  | { readonly outcome: 'succeeded'; readonly millis: number }
  | { readonly outcome: 'failed'; readonly step: CanaryStep; readonly why: string };

/** A picture of the sandbox takes about two seconds. The next run may begin a minute after this one. */
const mostWaitMillis = 30_000;
/** The API refuses polls of one creation that come less than a second apart. */
const pollMillis = 2_000;

/** @param runId names the order, so that two runs never share one */
export async function runCanary(services: CanaryServices, runId: string): Promise<CanaryReport> {
  const { log } = services;
  const report = await runOnce(services, runId);
  if (report.outcome === 'succeeded') log.info('canary_succeeded', { millis: report.millis });
  else log.info('canary_failed', { step: report.step, why: report.why });
  return report;
}

async function runOnce(services: CanaryServices, runId: string): Promise<CanaryReport> {
  // The step that runs now. An error of the network does not name its step.
  const run: Run = { step: 'set_up' };
  try {
    const api = await services.api();
    if (!api) throw new StepFailed('nobody has run `canary setup`');
    const millis = await orderPicture(api, runId, run, services);
    return { outcome: 'succeeded', millis };
  } catch (error) {
    const why = error instanceof StepFailed ? error.message : `no answer (${errorName(error)})`;
    return { outcome: 'failed', step: run.step, why };
  }
}

interface Run {
  step: CanaryStep;
}

/** What a client would notice. The message never holds a key or a signed address. */
class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

function expect(isSo: boolean, why: string): void {
  if (!isSo) throw new StepFailed(why);
}

const balanceSchema = z.object({ available: z.number() });
const quoteSchema = z.object({ cost: z.number() });
const creationSchema = z.object({
  id: z.string(),
  status: z.string(),
  cost: z.number(),
  // Only a completed creation has results.
  results: z.optional(z.array(z.object({ url: z.string(), bytes: z.number() }))),
});
type Creation = z.infer<typeof creationSchema>;

/** Returns the milliseconds from the order to the fetched picture. */
async function orderPicture(
  api: PublicApi,
  runId: string,
  run: Run,
  services: CanaryServices,
): Promise<number> {
  const { clock } = services;
  const order = { model: canaryModel, prompt: 'a yellow bird, for the canary' };
  run.step = 'balance';
  const before = micros(valueOf(balanceSchema, await api.send('/balance'), 200).available);
  run.step = 'price';
  const price = micros(valueOf(quoteSchema, await api.send('/images/quote', { body: order }), 200).cost);
  expect(before >= price, 'the balance is used up: run `canary setup`');

  run.step = 'accepted';
  const began = clock.elapsed();
  const send = async (): Promise<Creation> =>
    valueOf(
      creationSchema,
      await api.send('/images/generate', { body: order, idempotencyKey: `canary-${runId}` }),
      202,
    );
  const { id } = await send();
  run.step = 'replayed';
  expect((await send()).id === id, 'the same Idempotency-Key made a second creation');

  run.step = 'completed';
  const creation = await ended(api, id, services);
  expect(creation.status === 'completed', `the creation ${id} is ${creation.status}`);
  expect(micros(creation.cost) === price, `the creation ${id} has another price than its quote`);
  run.step = 'picture';
  const [picture] = creation.results ?? [];
  if (!picture) throw new StepFailed(`the creation ${id} has no picture`);
  const fetched = await api.fetchPicture(picture.url);
  expect(fetched.status === 200, `the picture was answered ${fetched.status}`);
  expect(fetched.bytes === picture.bytes, 'the picture has another length than the API says');
  const millis = Math.round(clock.elapsed() - began);

  run.step = 'charged';
  const after = micros(valueOf(balanceSchema, await api.send('/balance'), 200).available);
  const charged = before - after;
  expect(charged === price, `${charged} micro-dollars were charged for a picture of ${price}`);
  return millis;
}

async function ended(api: PublicApi, id: string, { clock }: CanaryServices): Promise<Creation> {
  const until = clock.elapsed() + mostWaitMillis;
  for (;;) {
    await clock.sleep(pollMillis);
    const answer = await api.send(`/creations/${id}`);
    const isTimeUp = clock.elapsed() >= until;
    // A poll that was sent again by the network comes too early. A client asks again then.
    if (answer.status === 429 && !isTimeUp) continue;
    const creation = valueOf(creationSchema, answer, 200);
    const isEnded = creation.status === 'completed' || creation.status === 'failed';
    if (isEnded || isTimeUp) return creation;
  }
}

function valueOf<Schema extends z.ZodMiniType>(
  schema: Schema,
  { status, body }: CanaryAnswer,
  expected: number,
): z.output<Schema> {
  expect(status === expected, `the answer was ${status} instead of ${expected}${codeIn(body)}`);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new StepFailed(`the answer ${status} has not its documented form`);
  return parsed.data;
}

const problemSchema = z.object({ error: z.object({ code: z.string() }) });

function codeIn(body: unknown): string {
  const parsed = problemSchema.safeParse(body);
  return parsed.success ? ` (${parsed.data.error.code})` : '';
}

/** Amounts have at most six decimals. */
function micros(usd: number): number {
  return Math.round(usd * 1_000_000);
}

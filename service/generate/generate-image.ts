/** POST /images/generate: refused requests cost nothing, and a lost 202 gives the same creation again. */
import type { Caller } from '../api/admit.ts';
import { acceptedAnswer, type ApiAnswer, type Made } from '../api/answer.ts';
import { notStarted, overloaded } from '../api/problems.ts';
import type { ApiRequest } from '../api/request.ts';
import type { Handle } from '../api/serve.ts';
import { deprecationHeaders } from '../catalog/sold-catalog.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { refundCreation } from '../creations/refund-creation.ts';
import { checkQuietly, subjectOf } from '../notices/check-thresholds.ts';
import { executionName } from '../values/ids.ts';
import { Problem } from '../values/problem.ts';
import { errorName } from '../values/runtime.ts';
import { awaitOutcome, waitSeconds } from './await-outcome.ts';
import { chargeRequest } from './charge.ts';
import { type Accepted, type Creations, findReplay, replayed } from './earlier-request.ts';
import type { SubmitServices } from './open.ts';
import { parseSubmission } from './parse.ts';
import { checkWebhook, planCreation } from './plan.ts';

type StartServices = Pick<
  SubmitServices,
  | 'charges'
  | 'clock'
  | 'creations'
  | 'executions'
  | 'log'
  | 'noticeExecutions'
  | 'notices'
  | 'randomBytes'
  | 'schema'
>;

/** 'left': the reconciler starts it or refunds it. Throws 503 when the charge was given back at once. */
export async function startCreation(
  creation: CreationRecord,
  services: StartServices,
): Promise<'started' | 'left'> {
  const { id: creationId, accountId, model, costMicros } = creation;
  const executionId = executionName(creationId, 1);
  const [started] = await Promise.all([
    services.executions.start(creation, 1),
    services.charges.countStart(creationId),
  ]);
  if (started !== 'refused') {
    // 'unclear' counts as started: the reconciler checks a creation that no execution has taken up.
    const acceptMillis = services.clock.now() - Date.parse(creation.createdAt);
    const fields = { creationId, accountId, executionId, model, costMicros, started, acceptMillis };
    services.log.info('creation_accepted', fields);
    if (started === 'unclear') services.log.info('start_unclear', { creationId, accountId, executionId });
    return 'started';
  }
  services.log.alarm('start_refused', { creationId, executionId });
  if (!(await isGivenBack(creation, services))) return 'left';
  throw notStarted(creationId);
}

/** Reverses the charge. False when the creation keeps its charge: busy, unknown, or completed after all. */
async function isGivenBack(creation: CreationRecord, services: StartServices): Promise<boolean> {
  try {
    const refund = { failure: 'ServiceUnavailable', announce: false } as const;
    const outcome = await refundCreation(creation, refund, { creationId: creation.id }, services);
    if (outcome === 'refunded' && creation.isWatched) await checkQuietly(subjectOf(creation), services);
    if (outcome !== 'already_terminal') return outcome === 'refunded';
    return (await services.creations.read(creation.id))?.status === 'failed';
  } catch (error) {
    services.log.info('refund_unclear', { creationId: creation.id, error: errorName(error) });
    return false;
  }
}

export const generateImage: Handle<SubmitServices> = async (request, caller, services) => {
  const accepted = await accept(request, caller, services);
  const answer = await answerTo(request, accepted, caller, services);
  return { ...answer, headers: { ...answer.headers, ...accepted.headers } };
};

/** What this request makes, or an earlier request with the same Idempotency-Key made. */
async function accept(
  request: ApiRequest,
  caller: Caller,
  services: SubmitServices,
): Promise<Accepted & Made> {
  const { body, idempotency } = parseSubmission(request, services, caller.token);
  const earlier = await findReplay(caller.state.idempotency, idempotency, services);
  const isList = body.count !== undefined;
  if (earlier.kind === 'replayed') return { isList, ...earlier };
  const plan = planCreation(body, caller, services);
  await checkWebhook(plan, services);
  const { idempotency: key } = earlier;
  const asked = { caller, requestId: request.requestId, plan, ...(key && { idempotency: key }) };
  const charged = await chargeRequest(asked, services);
  // Only a request with the number of a try can conflict with another try of its call.
  if (charged.kind === 'retry_moved') throw overloaded();
  if (charged.kind === 'replayed') return { isList, ...replayed(charged.creations, services) };
  const starts = await startCreations(charged.creations, services);
  const [refusal] = starts;
  if (refusal instanceof Problem && starts.every((start) => start instanceof Problem)) throw refusal;
  return {
    isList,
    creations: await asTheyAre(charged.creations, starts, services),
    headers: starts.includes('started') ? deprecationHeaders(plan.request.model) : {},
  };
}

type Start = Awaited<ReturnType<typeof startCreation>> | Problem;

/** A creation that could not be started has failed and was refunded. Returns its Problem. */
export async function startCreations(creations: Creations, services: StartServices): Promise<Start[]> {
  return Promise.all(
    creations.map((creation) =>
      startCreation(creation, services).catch((error: unknown) => {
        if (error instanceof Problem) return error;
        throw error;
      }),
    ),
  );
}

/** Reads those of several creations again that were refunded at once. The others are returned unread. */
async function asTheyAre(
  creations: Creations,
  starts: readonly Start[],
  { creations: reader, log }: Pick<StartServices, 'creations' | 'log'>,
): Promise<Creations> {
  const read = async (creation: CreationRecord, index: number): Promise<CreationRecord> => {
    if (!(starts[index] instanceof Problem)) return creation;
    const known = await reader.read(creation.id).catch((error: unknown) => {
      log.info('refund_unread', { creationId: creation.id, error: errorName(error) });
      return undefined;
    });
    return known ?? creation;
  };
  const [first, ...others] = creations;
  return Promise.all([read(first, 0), ...others.map((one, index) => read(one, index + 1))]);
}

/** 202 at once, or the outcome of the creations for a client that prefers to wait. */
async function answerTo(
  request: ApiRequest,
  { creations, isList }: Made,
  caller: Caller,
  services: SubmitServices,
): Promise<ApiAnswer> {
  // A request to the OpenAI-shaped endpoint may have made several under the same key. This answer has room for one.
  const one = creations.find(({ status }) => status !== 'failed') ?? creations[0];
  const made: Made = isList ? { creations, isList } : { creations: [one], isList };
  const seconds = waitSeconds(request.headers['prefer']);
  if (seconds === undefined) return acceptedAnswer(made, services);
  // A replay is not charged, so no charge has counted it. It is counted before it is held.
  await caller.rateSlot.take();
  return awaitOutcome(made, seconds, services);
}

/** POST /images/generations and /images/edits, with the promises of POST /images/generate. */
import { type Hold, openHold } from '../api/hold.ts';
import { partsOf, type StreamedAnswer } from '../api/response-stream.ts';
import { heldMillis, sendingMillis } from '../contract/limits.ts';
import type { Told } from '../creations/retries.ts';
import { haveEnded } from '../generate/await-outcome.ts';
import type { Problem } from '../values/problem.ts';
import { type AcceptedImages, acceptImages, noteTold } from './accept-try.ts';
import { eventStream } from './event-stream.ts';
import { ignoredHeader, shownFormats } from './fields.ts';
import { heldUntil, pollWhileHeld } from './hold.ts';
import { picturesAnswer } from './json-answer.ts';
import type { OpenaiImageServices } from './open.ts';
import { creationHeaders, refusalOf } from './outcome.ts';
import { ignoredFields } from './plan-body.ts';
import { type OpenaiRequest, readRequest } from './read-request.ts';
import { OpenaiRefusal } from './refusal.ts';
import type { OpenaiHandle } from './serve-openai.ts';

export const openaiImages: OpenaiHandle<OpenaiImageServices> = async (request, caller, services) => {
  const asked = await readRequest(request, services);
  // The time limit of a library ends with the headers of the answer, which a stream sends at once.
  const untilMillis = asked.asked.isStreamed ? heldMillis : heldUntil(request.headers);
  const hold = openHold(caller.account.id, untilMillis + sendingMillis, services);
  try {
    const accepted = await acceptImages({ request, asked, caller, hold }, services);
    // A request that an earlier request has paid for is not charged again. It counts against the rate before
    // it is held.
    await caller.rateSlot.take();
    const isHeld = haveEnded(accepted.creations) || (await hold.take());
    const answer = await answerWith(asked, accepted, isHeld ? untilMillis : 0, services);
    const headers = { ...answer.headers, ...moreHeaders(asked, accepted, services) };
    return { ...answer, headers, body: releasing(answer.body, hold) };
  } catch (error) {
    await hold.release();
    throw error;
  }
};

/** Holds the slot until the last byte is sent, or the client has disconnected. */
async function* releasing(body: StreamedAnswer['body'], hold: Hold): AsyncGenerator<string | Uint8Array> {
  try {
    yield* partsOf(body);
  } finally {
    await hold.release();
  }
}

async function answerWith(
  { action, asked }: OpenaiRequest,
  { creations, call }: AcceptedImages,
  untilMillis: number,
  services: OpenaiImageServices,
): Promise<StreamedAnswer> {
  const note = async (refusal: Problem | undefined): Promise<void> =>
    noteTold(call, toldBy(refusal), services);
  if (asked.isStreamed) {
    const body = eventStream(action, creations, untilMillis, services, note);
    const headers = { 'content-type': 'text/event-stream', ...creationHeaders(creations) };
    return { status: 200, headers, body };
  }
  let last = creations;
  for await (const seen of pollWhileHeld(creations, untilMillis, services)) last = seen;
  const refusal = refusalOf(last, services, untilMillis > 0 ? 'held' : 'withoutAPlace');
  if (refusal) {
    await note(refusal);
    throw refusal;
  }
  const answer = await picturesAnswer(last, shownFormats(asked, services.aliases), services);
  return { ...answer, body: andThen(answer.body, async () => note(undefined)) };
}

function toldBy(refusal: Problem | undefined): Told {
  if (!refusal) return 'pictures';
  return refusal instanceof OpenaiRefusal && refusal.errorCode === 'still_rendering'
    ? 'rendering'
    : 'failure';
}

/** The same body. `next` runs after its last part was sent, and not when the client disconnects earlier. */
async function* andThen(
  body: StreamedAnswer['body'],
  next: () => Promise<void>,
): AsyncGenerator<string | Uint8Array> {
  yield* partsOf(body);
  await next();
}

function moreHeaders(
  { asked }: OpenaiRequest,
  { creations, headers }: AcceptedImages,
  { catalog }: OpenaiImageServices,
): Readonly<Record<string, string>> {
  const model = catalog.models.find(({ id }) => id === creations[0].model);
  const ignored = ignoredHeader(ignoredFields(asked, model, catalog));
  return { ...headers, ...(ignored !== undefined && { 'x-darkroom-ignored': ignored }) };
}

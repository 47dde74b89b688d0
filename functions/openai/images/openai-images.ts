/**
 * POST /images/generations and /images/edits. The order keeps the promises of POST /images/generate: nothing is
 * charged for a request that will be refused, and a request that is sent again gets the same creations back.
 */
import { ignoredHeader } from '../../../core/openai/fields.ts';
import { ignoredFields } from '../../../core/openai/plan-body.ts';
import type { StreamedAnswer } from '../../http/response-stream.ts';
import type { Accepted, Creations } from '../../operations/generate/replay.ts';
import type { OpenaiImageServices } from '../../services/openai-images.ts';
import type { OpenaiHandle } from '../http/serve-openai.ts';
import { acceptImages } from './accept.ts';
import { eventStream } from './event-stream.ts';
import { heldUntil, looksWhileHeld } from './hold.ts';
import { picturesAnswer } from './json-answer.ts';
import { creationHeaders, refusalOf } from './outcome.ts';
import { readRequest, type OpenaiRequest } from './read-request.ts';

export const openaiImages: OpenaiHandle<OpenaiImageServices> = async (request, caller, services) => {
  const asked = await readRequest(request, services);
  const accepted = await acceptImages(request, asked, caller, services);
  // What an earlier request has charged is not charged again. It takes its place in the rate before it is held.
  await caller.place.take();
  const answer = await answerWith(asked, accepted.creations, heldUntil(request.headers), services);
  return { ...answer, headers: { ...answer.headers, ...moreHeaders(asked, accepted, services) } };
};

async function answerWith(
  { action, asked }: OpenaiRequest,
  creations: Creations,
  untilMillis: number,
  services: OpenaiImageServices,
): Promise<StreamedAnswer> {
  if (asked.isStreamed) {
    const body = eventStream(action, creations, untilMillis, services, async () => Promise.resolve());
    const headers = { 'content-type': 'text/event-stream', ...creationHeaders(creations) };
    return { status: 200, headers, body };
  }
  let last = creations;
  for await (const seen of looksWhileHeld(creations, untilMillis, services)) last = seen;
  const refusal = refusalOf(last);
  if (refusal) throw refusal;
  return picturesAnswer(last, asked.responseFormat, services);
}

/** Of the model that goes away, of a replay, and of what changed nothing. */
function moreHeaders(
  { asked }: OpenaiRequest,
  { creations, headers }: Accepted,
  { catalog }: OpenaiImageServices,
): Readonly<Record<string, string>> {
  const model = catalog.models.find(({ id }) => id === creations[0].model);
  const ignored = ignoredHeader(ignoredFields(asked, model, catalog));
  return { ...headers, ...(ignored !== undefined && { 'x-darkroom-ignored': ignored }) };
}

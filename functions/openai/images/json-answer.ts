/** The answer with all pictures as one JSON text. */
import { resultUrls, type CreationRecord } from '../../../core/creation.ts';
import type { ResponseFormat } from '../../../core/openai/fields.ts';
import { toUsd } from '../../../core/money.ts';
import type { Creations } from '../../operations/generate/replay.ts';
import type { StreamedAnswer } from '../../http/response-stream.ts';
import type { SubmitServices } from '../../services/submit.ts';
import { creationHeaders, failureOf, isCompleted, paidFor } from './outcome.ts';
import { base64Parts, firstBytes, picturesOf, unreadable, type Picture } from './pictures.ts';
import { shownOf, type Shown } from './shown.ts';

/** 200 once all creations have ended and one of them has a picture. Throws 500 when it cannot be read. */
export async function picturesAnswer(
  creations: Creations,
  responseFormat: ResponseFormat,
  services: SubmitServices,
): Promise<StreamedAnswer> {
  const pictures = picturesOf(creations);
  const head = `{"created":${createdOf(creations)},"data":[`;
  const tail = `],${JSON.stringify(aboutOf(creations, pictures, services)).slice(1)}`;
  const answer = { status: 200, headers: creationHeaders(creations) };
  if (responseFormat === 'url') {
    const urls = urlsOf(creations, services);
    if (urls.length === 0) throw unreadable(new Error('the pictures have expired'), creations, services);
    const data = urls.map((url) => JSON.stringify({ url })).join(',');
    return { ...answer, body: `${head}${data}${tail}` };
  }
  const first = await firstBytes(pictures, creations, services);
  return { ...answer, body: base64Body(head, first, pictures.slice(1), tail, services) };
}

async function* base64Body(
  head: string,
  first: Uint8Array,
  others: readonly Picture[],
  tail: string,
  { images }: Pick<SubmitServices, 'images'>,
): AsyncGenerator<string> {
  yield `${head}{"b64_json":"`;
  yield* base64Parts(first);
  for (const { image } of others) {
    yield '"},{"b64_json":"';
    yield* base64Parts(await images.get(image.key));
  }
  yield `"}${tail}`;
}

function urlsOf(creations: Creations, { resultsBaseUrl, clock }: SubmitServices): string[] {
  return creations.filter(isCompleted).flatMap((one) => resultUrls(one, resultsBaseUrl, clock.now()));
}

/** Unix seconds. The same for every answer with these creations. */
function createdOf(creations: Creations): number {
  const { completedAt, createdAt } = creations.find(isCompleted) ?? creations[0];
  return Math.floor(Date.parse(completedAt ?? createdAt) / 1_000);
}

function aboutOf(
  creations: Creations,
  pictures: readonly Picture[],
  { catalog }: Pick<SubmitServices, 'catalog'>,
): Shown & { readonly darkroom: Record<string, unknown> } {
  const failed = creations.filter((one) => !isCompleted(one));
  return {
    ...shownOf(pictures[0], catalog),
    darkroom: {
      creation_ids: creations.map(({ id }) => id),
      cost: toUsd(paidFor(creations)),
      currency: 'USD',
      ...(failed.length > 0 && { failed: failed.map(failedView) }),
    },
  };
}

function failedView(creation: CreationRecord): Record<string, unknown> {
  return { creation_id: creation.id, ...failureOf(creation) };
}

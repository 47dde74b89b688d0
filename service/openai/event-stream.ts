/** The answer as a stream of events, for `stream: true`. Its head goes out right after the charge. */
import { keepAliveMillis } from '../contract/limits.ts';
import type { Creations } from '../generate/earlier-request.ts';
import type { Problem } from '../values/problem.ts';
import type { OpenaiAction } from './fields.ts';
import { longestPauseMillis, pollWhileHeld } from './hold.ts';
import { shownOf } from './json-answer.ts';
import type { OpenaiImageServices } from './open.ts';
import { base64Parts, type Picture, picturesOf, refusalOf, unreadable } from './outcome.ts';
import { refusedBy } from './refusal.ts';

const eventNames: Readonly<Record<OpenaiAction, string>> = {
  generate: 'image_generation.completed',
  edit: 'image_edit.completed',
};

/** The libraries' types require it. Nothing here is counted in tokens. */
const usage = {
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
};

const keepAlive = ': keep-alive\n\n';

/** An event for each picture, comments before, an `error` without one. @param ended gets the answer */
export async function* eventStream(
  action: OpenaiAction,
  accepted: Creations,
  untilMillis: number,
  services: OpenaiImageServices,
  ended: (refusal: Problem | undefined) => Promise<void>,
): AsyncGenerator<string> {
  const { budget } = services;
  const sent = new Set<string>();
  let last = accepted;
  let refusal: Problem | undefined;
  // Proxies pass the head on with the first bytes.
  yield keepAlive;
  let spokeAt = budget.elapsed();
  try {
    for await (const seen of pollWhileHeld(accepted, untilMillis, services)) {
      last = seen;
      for (const picture of picturesOf(seen)) {
        if (sent.has(picture.image.key)) continue;
        sent.add(picture.image.key);
        yield* pictureEvent(eventNames[action], picture, services);
        spokeAt = budget.elapsed();
      }
      // The next poll may come as late as this.
      if (budget.elapsed() + longestPauseMillis - spokeAt <= keepAliveMillis) continue;
      yield keepAlive;
      spokeAt = budget.elapsed();
    }
    refusal = refusalOf(last, services);
  } catch (error) {
    refusal = unreadable(error, last, services);
  }
  if (refusal) yield `event: error\ndata: ${JSON.stringify({ error: refusedBy(refusal).error })}\n\n`;
  await ended(refusal);
}

async function* pictureEvent(
  type: string,
  picture: Picture,
  { images, catalog }: Pick<OpenaiImageServices, 'images' | 'catalog'>,
): AsyncGenerator<string> {
  const { creation, image } = picture;
  const bytes = await images.get(image.key);
  const about = {
    created_at: Math.floor(Date.parse(creation.completedAt ?? creation.createdAt) / 1_000),
    ...shownOf(picture, catalog),
    usage,
  };
  yield `event: ${type}\ndata: {"type":"${type}","b64_json":"`;
  yield* base64Parts(bytes);
  yield `",${JSON.stringify(about).slice(1)}\n\n`;
}

/** The tool that orders an image, and waits for its end. */
import { countedPost } from '../../api/admit.ts';
import { openHold } from '../../api/hold.ts';
import { creationView, isTerminal } from '../../creations/creation.ts';
import { generateImage as generate } from '../../generate/generate-image.ts';
import { quoteImage as quote } from '../../generate/quote-image.ts';
import type { CreationId } from '../../values/ids.ts';
import { errorName } from '../../values/runtime.ts';
import { type CreationBody, creationsResult, type MadeBodies } from './creation-result.ts';
import { imageRequest, jsonOf } from './image-request.ts';
import {
  creationOutput,
  imageArguments,
  number,
  objectOf,
  optionalImageArguments,
  text,
  waitSeconds,
} from './schemas.ts';
import { checkArguments, type Tool, type ToolCall, waitOf } from './tool.ts';

/** A bounded wait for the end of a creation, shorter than a host's. Nothing in the wait is an error. */
const firstPauseMillis = 150;
const longestPauseMillis = 1_000;
const progressMillis = 5_000;

/** The creations at their end, or as last seen. @param seconds from the arrival of the request on */
export async function awaitEnd(
  made: MadeBodies,
  seconds: number,
  { caller, services, tell }: Pick<ToolCall, 'caller' | 'services' | 'tell'>,
): Promise<MadeBodies> {
  const { clock, creations, budget, results, log } = services;
  const read = async (known: CreationBody): Promise<CreationBody> => {
    if (isTerminal(known.status)) return known;
    const record = await creations.read(known.id as CreationId);
    if (!record) return known;
    return creationView(record, await results.of([record]), clock.now()) as unknown as CreationBody;
  };
  let last = made;
  let sentAt = -progressMillis;
  const hold = openHold(caller.account.id, seconds * 1000, services);
  try {
    for (
      let pause = firstPauseMillis;
      !last.every(({ status }) => isTerminal(status));
      pause = Math.min(longestPauseMillis, pause * 1.5)
    ) {
      const left = seconds * 1000 - budget.elapsed();
      if (left <= 0 || !(await hold.take())) break;
      if (budget.elapsed() - sentAt >= progressMillis) {
        sentAt = budget.elapsed();
        const open = last.find(({ status }) => !isTerminal(status)) ?? last[0];
        await tell?.(Math.round(sentAt / 1000), seconds, `${open.id}: ${open.status}`);
      }
      await clock.sleep(Math.min(pause, left), budget.signal);
      const [first, ...others] = last;
      last = await Promise.all([read(first), ...others.map(read)]);
    }
  } catch (error) {
    log.info('wait_broken_off', { creationId: last[0].id, error: errorName(error) });
  } finally {
    await hold.release();
  }
  return last;
}

const generateInput = objectOf({ ...imageArguments, wait_seconds: waitSeconds }, [
  ...optionalImageArguments,
  'wait_seconds',
]);

export const generateImage: Tool = {
  name: 'generate_image',
  title: 'Generate an image',
  description:
    'Generates an image from a prompt, or several, and charges the price. It waits for the image. When the wait ends ' +
    'first, the result has the id of the creation: call get_creation with it. A creation that fails is refunded ' +
    'in full.',
  rate: 'post',
  attaches: true,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input: generateInput,
  output: creationOutput,
  requestOf: ({ wait_seconds: _seconds, ...body }) => ({ method: 'POST', body }),
  run: async (call) => {
    const { services } = call;
    // A call that attached is not charged, so no charge has counted it. It is counted before it waits.
    const { made, seconds } = await countedPost(call.caller.rateSlot, () => accept(call));
    // From here on the creations are charged: whatever happens, the client gets their ids.
    const last = await awaitEnd(made, seconds, call);
    const result = await creationsResult(last, services);
    return { ...result, ...(last.every(({ status }) => status === 'failed') && { isError: true }) };
  },
};

interface Accepted {
  readonly made: MadeBodies;
  readonly seconds: number;
}

/** The creations of this call, or of the same call when it was sent before. */
async function accept(call: ToolCall): Promise<Accepted> {
  const { args, caller, services } = call;
  checkArguments(args, generateInput);
  const seconds = waitOf(args);
  const answer = await generate(jsonOf(call.request, await imageRequest(call)), caller, services);
  const body = answer.body as CreationBody | { readonly data: MadeBodies };
  return { made: 'data' in body ? body.data : [body], seconds };
}

const quoteInput = objectOf(imageArguments, optionalImageArguments);

interface QuoteBody {
  readonly cost: number;
  readonly model: string;
  readonly resolution: string;
  readonly aspect_ratio: string;
  readonly available: number;
  readonly sufficient: boolean;
}

export const quoteImage: Tool = {
  name: 'quote_image',
  title: 'Quote an image',
  description: 'Tells what generate_image would cost with the same arguments. It charges nothing.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: quoteInput,
  output: objectOf({
    cost: number('The price in USD.'),
    model: text('The model that would render the image.'),
    resolution: text('Its size.'),
    aspect_ratio: text('Its shape.'),
    available: number('What the account can spend, in USD.'),
    sufficient: { type: 'boolean', description: 'Whether the account can pay the price.' },
  }),
  requestOf: (body) => ({ method: 'POST', body }),
  run: async (call) => {
    const { args, caller, services } = call;
    checkArguments(args, quoteInput);
    const answer = await quote(jsonOf(call.request, await imageRequest(call)), caller, services);
    const { cost, model, resolution, aspect_ratio, available, sufficient } = answer.body as QuoteBody;
    const enough = sufficient ? 'which is enough' : 'which is not enough';
    const sentence = `The image costs ${cost} USD (${model}, ${resolution}, ${aspect_ratio}). The account has ${available} USD, ${enough}.`;
    return {
      content: [{ type: 'text', text: sentence }],
      structuredContent: { cost, model, resolution, aspect_ratio, available, sufficient },
    };
  },
};

import { generateImage as generate } from '../../operations/generate/generate-image.ts';
import { countedPost } from '../../http/counted-post.ts';
import { jsonOf } from '../http/json-request.ts';
import { awaitEnd } from './await-end.ts';
import { checkArguments, waitOf } from './check-arguments.ts';
import { imageRequest } from './image-request.ts';
import { creationResult } from './creation-result.ts';
import { objectOf } from './json-schema.ts';
import { creationOutput, imageArguments, optionalImageArguments, waitSeconds } from './schemas.ts';
import type { CreationBody } from './seen-creation.ts';
import type { Tool, ToolCall } from './tool.ts';

const input = objectOf({ ...imageArguments, wait_seconds: waitSeconds }, [
  ...optionalImageArguments,
  'wait_seconds',
]);

export const generateImage: Tool = {
  name: 'generate_image',
  title: 'Generate an image',
  description:
    'Generates one image from a prompt, and charges its price. It waits for the image. When the wait ends ' +
    'first, the result has the id of the creation: call get_creation with it. A creation that fails is refunded ' +
    'in full.',
  rate: 'post',
  attaches: true,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input,
  output: creationOutput,
  requestOf: ({ wait_seconds: _seconds, ...body }) => ({ method: 'POST', body }),
  run: async (call) => {
    const { services } = call;
    // A call that attached is not charged, so no charge has counted it. It takes its place before it waits.
    const { creation, seconds } = await countedPost(call.caller.place, () => accept(call));
    // From here on the creation is charged: whatever happens, the client gets its id.
    const last = await awaitEnd(creation, seconds, call);
    const result = await creationResult(last, services);
    return { ...result, ...(last.status === 'failed' && { isError: true }) };
  },
};

interface Accepted {
  readonly creation: CreationBody;
  readonly seconds: number;
}

/** The creation that this call makes, or that the same call made when it was sent before. */
async function accept(call: ToolCall): Promise<Accepted> {
  const { args, caller, services } = call;
  checkArguments(args, input);
  const seconds = waitOf(args);
  const answer = await generate(jsonOf(call.request, await imageRequest(call)), caller, services);
  return { creation: answer.body as CreationBody, seconds };
}

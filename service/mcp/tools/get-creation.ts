import { getCreation as get } from '../../api/get-creation.ts';
import { creationResult } from './creation-result.ts';
import { awaitEnd } from './generate-image.ts';
import { creationId, creationOutput, objectOf, waitSeconds } from './schemas.ts';
import type { CreationBody } from './seen-creation.ts';
import { checkArguments, type Tool, waitOf } from './tool.ts';

const input = objectOf({ id: creationId, wait_seconds: waitSeconds }, ['wait_seconds']);

export const getCreation: Tool = {
  name: 'get_creation',
  title: 'Get a creation',
  description:
    'Gets a creation and its image. While the creation is queued or processing, the call waits for its end.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input,
  output: creationOutput,
  requestOf: ({ id }) => ({ method: 'GET', pathId: typeof id === 'string' ? id : '' }),
  run: async (call) => {
    const { args, request, caller, services } = call;
    checkArguments(args, input);
    const seconds = waitOf(args);
    const { body } = await get(request, caller, services);
    return creationResult(await awaitEnd(body as CreationBody, seconds, call), services);
  },
};

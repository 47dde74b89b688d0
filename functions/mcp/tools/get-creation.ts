import { getCreation as get } from '../../operations/get-creation.ts';
import { awaitEnd } from './await-end.ts';
import { checkArguments, waitOf } from './check-arguments.ts';
import { creationResult } from './creation-result.ts';
import { objectOf } from './json-schema.ts';
import { creationId, creationOutput, waitSeconds } from './schemas.ts';
import type { CreationBody } from './seen-creation.ts';
import type { Tool } from './tool.ts';

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

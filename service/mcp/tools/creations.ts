import { countedPost } from '../../api/admit.ts';
import {
  cancelCreation as cancel,
  defaultLimit,
  getCreation as get,
  listCreations as list,
  mostLimit,
} from '../../api/creations.ts';
import { type CreationBody, creationResult, creationsResult } from './creation-result.ts';
import { awaitEnd } from './images.ts';
import {
  creationId,
  creationOutput,
  creationStatus,
  listOf,
  number,
  objectOf,
  orNull,
  text,
  waitSeconds,
} from './schemas.ts';
import { checkArguments, type Tool, waitOf } from './tool.ts';

const getInput = objectOf({ id: creationId, wait_seconds: waitSeconds }, ['wait_seconds']);

export const getCreation: Tool = {
  name: 'get_creation',
  title: 'Get a creation',
  description:
    'Gets a creation and its image. While the creation is queued or processing, the call waits for its end.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: getInput,
  output: creationOutput,
  requestOf: ({ id }) => ({ method: 'GET', pathId: typeof id === 'string' ? id : '' }),
  run: async (call) => {
    const { args, request, caller, services } = call;
    checkArguments(args, getInput);
    const seconds = waitOf(args);
    const { body } = await get(request, caller, services);
    return creationsResult(await awaitEnd([body as CreationBody], seconds, call), services);
  },
};

const cancelInput = objectOf({ id: creationId });

export const cancelCreation: Tool = {
  name: 'cancel_creation',
  title: 'Cancel a creation',
  description:
    'Cancels a creation that has not ended, and gives its charge back. It is refused when the creation has ended, ' +
    'or when the provider cannot stop it any more.',
  rate: 'post',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: cancelInput,
  output: creationOutput,
  requestOf: ({ id }) => ({ method: 'POST', pathId: typeof id === 'string' ? id : '' }),
  run: ({ args, request, caller, services }) =>
    countedPost(caller.rateSlot, async () => {
      checkArguments(args, cancelInput);
      const { body } = await cancel(request, caller, services);
      return creationResult(body as CreationBody);
    }),
};

/** An agent recognises a creation by the beginning of its prompt. */
const shownPrompt = 200;

const listInput = objectOf(
  {
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: mostLimit,
      default: defaultLimit,
      description: 'How many creations at most.',
    },
    status: { ...creationStatus, description: 'Only the creations in this state.' },
  },
  ['limit', 'status'],
);

interface ListBody {
  readonly data: readonly CreationBody[];
  readonly has_more: boolean;
}

export const listCreations: Tool = {
  name: 'list_creations',
  title: 'List creations',
  description: 'Lists the creations of the account, the newest first.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: listInput,
  output: objectOf({
    creations: listOf(
      objectOf({
        id: text('For get_creation.'),
        status: creationStatus,
        model: text('The model.'),
        prompt: orNull(text(`The first ${shownPrompt} characters of the prompt.`)),
        cost: number('What was charged, in USD.'),
        result_url: orNull(text('The address of the image. Null when there is none.')),
        created_at: text('When the creation was accepted (RFC 3339).'),
      }),
      'The newest first.',
    ),
    has_more: { type: 'boolean', description: 'Whether the account has more than these.' },
  }),
  requestOf: ({ limit, status }) => ({
    method: 'GET',
    query: {
      ...(limit !== undefined && { limit: textOf(limit) }),
      ...(status !== undefined && { status: textOf(status) }),
    },
  }),
  run: async ({ args, request, caller, services }) => {
    checkArguments(args, listInput);
    const { data, has_more } = (await list(request, caller, services)).body as ListBody;
    const creations = data.map(({ id, status, model, prompt, cost, results, created_at }) => ({
      id,
      status,
      model,
      prompt: prompt === null ? null : Array.from(prompt).slice(0, shownPrompt).join(''),
      cost,
      result_url: results?.[0]?.url ?? null,
      created_at,
    }));
    const structuredContent = { creations, has_more };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  },
};

/** A query parameter. What is no text or number cannot be a right value of one. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}

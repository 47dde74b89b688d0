import { listCreations as list } from '../../api/list-creations.ts';
import { creationStatus, listOf, number, objectOf, orNull, text } from './schemas.ts';
import type { CreationBody } from './seen-creation.ts';
import { checkArguments, type Tool } from './tool.ts';

/** An agent recognises a creation by the beginning of its prompt. */
const shownPrompt = 200;

const input = objectOf(
  {
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
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
  input,
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
    checkArguments(args, input);
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

/** The result of a tool about one creation. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { mostInlineBytes } from '../../contract/limits.ts';
import type { FieldError, Problem } from '../../values/problem.ts';
import { errorName } from '../../values/runtime.ts';
import type { McpServices } from '../open.ts';

// A creation as the API shows it, in the words of the tools.

/** The parts of the API's view of a creation that the tools show (service/creations/creation.ts). */
export interface CreationBody {
  readonly id: string;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly model: string;
  readonly prompt: string | null;
  readonly cost: number;
  readonly amount_refunded: number;
  readonly results?: readonly ResultBody[];
  readonly result_expires_at?: string;
  readonly error?: string;
  readonly retryable?: boolean;
  readonly created_at: string;
}

interface ResultBody {
  readonly url: string;
  readonly width: number;
  readonly height: number;
  readonly content_type: string;
  readonly bytes: number;
}

function structuredOf(creation: CreationBody): Record<string, unknown> {
  const image = creation.results?.[0];
  return {
    id: creation.id,
    status: creation.status,
    model: creation.model,
    cost: creation.cost,
    amount_refunded: creation.amount_refunded,
    result_url: image?.url ?? null,
    width: image?.width ?? null,
    height: image?.height ?? null,
    error: creation.error ?? null,
  };
}

function sentenceOf(creation: CreationBody): string {
  const { id, model, status, cost } = creation;
  const image = creation.results?.[0];
  switch (status) {
    case 'queued':
    case 'processing':
      return (
        `The creation ${id} is ${status} (${model}, ${cost} USD): there is no image yet. ` +
        `Call get_creation with this id to wait on. Do not call generate_image again for the same image.`
      );
    case 'completed':
      return image
        ? `The image of the creation ${id} is ready: ${image.url} (${image.width} x ${image.height} pixels, ${model}, ${cost} USD).`
        : `The creation ${id} is completed, but its image expired at ${String(creation.result_expires_at)} and is gone.`;
    case 'failed':
      return `The creation ${id} failed: ${creation.error ?? ''} ${refundOf(creation)}${nextOf(creation)}`;
  }
}

function refundOf({ cost, amount_refunded: refunded }: CreationBody): string {
  return refunded >= cost
    ? `Its charge of ${cost} USD was given back in full.`
    : `Of its charge of ${cost} USD, ${refunded} USD were given back so far.`;
}

function nextOf({ retryable }: CreationBody): string {
  return retryable === true
    ? ' The same request may succeed now.'
    : ' Change the request before you try again.';
}

/** Pictures that every host shows. */
const shownTypes: readonly string[] = ['image/png', 'image/jpeg'];

/** @param services absent: the tool shows no picture */
export async function creationResult(
  creation: CreationBody,
  services?: McpServices,
): Promise<CallToolResult> {
  const links = (creation.results ?? []).map(({ url, content_type: mimeType, bytes }): ContentBlock => ({
    type: 'resource_link',
    uri: url,
    name: keyOf(url).replace(/^.*\//, ''),
    mimeType,
    size: bytes,
  }));
  const picture = services && (await pictureOf(creation, services));
  return {
    content: [{ type: 'text', text: sentenceOf(creation) }, ...links, ...(picture ? [picture] : [])],
    structuredContent: structuredOf(creation),
  };
}

/** At least one. */
export type MadeBodies = readonly [CreationBody, ...CreationBody[]];

/** The results of several creations as one. */
export async function creationsResult(made: MadeBodies, services?: McpServices): Promise<CallToolResult> {
  const results = await Promise.all(made.map((creation) => creationResult(creation, services)));
  const [first, ...others] = made.map(structuredOf);
  return {
    content: results.flatMap(({ content }) => content),
    structuredContent: { ...first, ...(others.length > 0 && { others }) },
  };
}

/** The key of the result at this address, signed or not. */
function keyOf(url: string): string {
  return /results\/(?:signed\/)?[\w-]+\.\w+/.exec(url)?.[0] ?? '';
}

/** The picture itself, when hosts can show it. The link remains in any case, so a failed read is no error. */
async function pictureOf(
  { id, results }: CreationBody,
  { images, log }: McpServices,
): Promise<ContentBlock | undefined> {
  const image = results?.[0];
  if (!image || image.bytes > mostInlineBytes || !shownTypes.includes(image.content_type)) return undefined;
  try {
    const bytes = await images.get(keyOf(image.url));
    return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: image.content_type };
  } catch (error) {
    log.info('picture_not_read', { creationId: id, error: errorName(error) });
    return undefined;
  }
}

/** A refusal as the result of a tool: one sentence, its code, and what to do now. The model reads it. */
export function toolError(problem: Problem): CallToolResult {
  const { code, message, details } = problem;
  const { reason, creation_id: creationId } = details;
  const named = typeof reason === 'string' ? `${code}, ${reason}` : code;
  const fields = fieldsOf(problem).map((one) => `${one.field}: ${one.message}`);
  // The message of the API names the first field only.
  const text = fields.length > 1 ? fields.join('; ') : message.replace(/\.$/, '');
  const sentences = [
    `${text} (${named}).`,
    ...(typeof creationId === 'string' ? [`It was the creation ${creationId}.`] : []),
    ...adviceOn(problem),
  ];
  return { content: [{ type: 'text', text: sentences.join(' ') }], isError: true };
}

function fieldsOf({ details }: Problem): readonly FieldError[] {
  return Array.isArray(details['errors']) ? (details['errors'] as FieldError[]) : [];
}

function adviceOn({ code, details, headers }: Problem): string[] {
  const { top_up_url: topUpUrl, resets_at: resetsAt } = details;
  const after = headers['retry-after'];
  if (typeof topUpUrl === 'string') return [`A person can add money at ${topUpUrl}.`];
  if (typeof resetsAt === 'string') return [`The budget begins anew at ${resetsAt}.`];
  if (after !== undefined && headers['x-should-retry'] === undefined) return [`Call again in ${after} s.`];
  switch (code) {
    case 'ERR_MODEL_NOT_FOUND':
      return ['list_models lists the models.'];
    case 'ERR_NOT_FOUND':
      return ['list_creations lists the creations.'];
    case 'ERR_INTERNAL':
      return ['list_creations shows whether a creation was made.'];
    case 'ERR_INPUT_FETCH_FAILED':
      return ['Check the address of the image, or call again later.'];
    default:
      return [];
  }
}

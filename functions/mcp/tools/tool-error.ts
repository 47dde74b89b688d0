/** A refusal as the result of a tool: one sentence, its code, and what to do now. The model reads it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FieldError, Problem } from '../../../core/problem.ts';

export function toolError(problem: Problem): CallToolResult {
  const { code, message, details } = problem;
  const { reason, creation_id: creationId } = details;
  const named = typeof reason === 'string' ? `${code}, ${reason}` : code;
  const fields = fieldsOf(problem).map((one) => `${one.field}: ${one.message}`);
  // The message of the API names the first field only.
  const told = fields.length > 1 ? fields.join('; ') : message.replace(/\.$/, '');
  const sentences = [
    `${told} (${named}).`,
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
  if (after !== undefined) return [`Call again in ${after} s.`];
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

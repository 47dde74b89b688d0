/**
 * An answer of a service is checked before it becomes a path, a header or a line to paste. The service may be
 * hostile, and something may stand between the service and the command.
 */
import { CommandError } from './complaint.ts';

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const wordForm = /^\w[\w.:-]{0,127}$/;
const imageTypeForm = /^image\/[a-z0-9][a-z0-9.+-]{0,63}$/;

/** The id of a creation. */
export function checkedId(id: unknown): string {
  return checked(id, uuidForm, 'the id of a creation');
}

/** Another id, or a name. */
export function checkedWord(text: unknown, what: string): string {
  return checked(text, wordForm, what);
}

/** The media type of an image. */
export function checkedImageType(type: unknown): string {
  return checked(type, imageTypeForm, 'the media type of an image');
}

function checked(text: unknown, form: RegExp, what: string): string {
  if (typeof text === 'string' && form.test(text)) return text;
  throw new CommandError(
    'failed',
    `The service answered with ${what} in a wrong form. Nothing was done with it.`,
    'Check the address of the service: DARKROOM_BASE_URL, or `darkroom login --base-url URL`.',
  );
}

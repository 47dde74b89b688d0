import { fieldErrors } from '../../core/field-errors.ts';
import { imageRequestSchema, missingPrompt, type ImageRequestBody } from '../../core/image-request.ts';
import { invalidRequest } from '../../core/problem.ts';
import { jsonBody, type ApiRequest } from './request.ts';

/** The body of a generation request. Throws 400 that names every field that is wrong. */
export function parseImageRequest(request: ApiRequest): ImageRequestBody {
  const body = jsonBody(request);
  const result = imageRequestSchema.safeParse(body, { reportInput: true });
  const missing = missingPrompt(result.data ?? body);
  const errors = [...fieldErrors(result.error?.issues ?? []), ...(missing ? [missing] : [])];
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return result.data;
}

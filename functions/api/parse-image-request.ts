import { fieldErrors } from '../../core/field-errors.ts';
import { imageRequestSchema, missingPrompt, type ImageRequestBody } from '../../core/image-request.ts';
import { invalidRequest } from '../../core/problem.ts';
import { jsonBody, type ApiRequest } from './request.ts';

/** The body of a generation request. Throws 400 that names every field that is wrong. */
export function parseImageRequest(request: ApiRequest): ImageRequestBody {
  const result = imageRequestSchema.safeParse(jsonBody(request), { reportInput: true });
  if (!result.success) throw invalidRequest(fieldErrors(result.error.issues));
  const missing = missingPrompt(result.data);
  if (missing) throw invalidRequest([missing]);
  return result.data;
}

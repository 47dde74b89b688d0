import { readClientUrl, type OutboundRules, type Purpose } from '../../../core/client-url.ts';
import type { OperationName } from '../../../core/contract.ts';
import { fieldErrors, onePerField } from '../../../core/field-errors.ts';
import { imageRequestSchema, missingPrompt, type ImageRequestBody } from '../../../core/image-request.ts';
import { invalidRequest, type FieldError } from '../../../core/problem.ts';
import type { QuoteServices } from '../../services.ts';
import { jsonBody, unknownParameters, type ApiRequest } from '../../http/request.ts';

/**
 * The body of a generation request, whether it is submitted or quoted. Throws 400 that
 * names every field that is wrong, as far as this can be told without the network.
 */
export function parseImageRequest(
  request: ApiRequest,
  operation: Extract<OperationName, 'generateImage' | 'quoteImage'>,
  { outboundRules }: Pick<QuoteServices, 'outboundRules'>,
): ImageRequestBody {
  const body = jsonBody(request);
  const result = imageRequestSchema.safeParse(body, { reportInput: true });
  const missing = missingPrompt(result.data ?? body);
  const errors = onePerField([
    ...unknownParameters(request, operation),
    ...fieldErrors(result.error?.issues ?? []),
    ...addressErrors(body, outboundRules),
    ...(missing ? [missing] : []),
  ]);
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return result.data;
}

/** What is wrong with the addresses of a body. What is no text at all is told by the schema. */
function addressErrors(
  { image_urls: images, webhook_url: webhook }: Record<string, unknown>,
  rules: OutboundRules,
): FieldError[] {
  const judge = (field: string, value: unknown, purpose: Purpose): FieldError[] => {
    const read = typeof value === 'string' ? readClientUrl(value, purpose, rules) : undefined;
    return read?.kind === 'refused' ? [{ field, code: read.code, message: read.why }] : [];
  };
  const listed: readonly unknown[] = Array.isArray(images) ? images : [];
  return [
    ...listed.flatMap((value, index) => judge(`image_urls[${index}]`, value, 'image')),
    ...judge('webhook_url', webhook, 'webhook'),
  ];
}

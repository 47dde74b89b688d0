import type { UserToken } from '../accounts/user-token.ts';
import type { QuoteServices } from '../api/open.ts';
import { idempotencyKeyMalformed } from '../api/problems.ts';
import { type ApiRequest, type IdempotencyKey, jsonBody, unknownParameters } from '../api/request.ts';
import type { OperationName } from '../contract/operations.ts';
import {
  type ImageRequestBody,
  imageRequestSchema,
  maskWithoutImage,
  missingPrompt,
  requestHash,
} from '../creations/image-request.ts';
import { type OutboundRules, type Purpose, readClientUrl } from '../outbound/client-url.ts';
import { namesUpload, notUsable, uploadIdIn } from '../uploads/upload.ts';
import { type FieldError, fieldErrors, invalidRequest, onePerField } from '../values/problem.ts';
import type { Idempotency } from './earlier-request.ts';
import { boundByToken, fieldsRefusedToToken, idempotencyOfUser } from './for-tokens.ts';

type ParseServices = Pick<QuoteServices, 'outboundRules'>;

export interface Parsed {
  readonly body: ImageRequestBody;
  /** Undefined when the request has no Idempotency-Key. */
  readonly idempotency: Idempotency | undefined;
}

/** Key and body of POST /images/generate. Throws 400: ignoring a malformed key could charge twice. */
export function parseSubmission(request: ApiRequest, services: ParseServices, token?: UserToken): Parsed {
  const key = request.idempotencyKey;
  if (key.kind === 'malformed') throw idempotencyKeyMalformed();
  const body = parseImageRequest(request, 'generateImage', services, token);
  const idempotency = key.kind === 'valid' ? idempotencyOf(key, body) : undefined;
  if (!token) return { body, idempotency };
  return {
    body: boundByToken(body, token),
    idempotency: idempotency && idempotencyOfUser(idempotency, token),
  };
}

function idempotencyOf(
  { hash, requestHash: ofRequest, seconds }: Extract<IdempotencyKey, { readonly kind: 'valid' }>,
  body: ImageRequestBody,
): Idempotency {
  const ofBody = ofRequest ?? requestHash(body);
  return { hash, requestHash: ofBody, ...(seconds !== undefined && { seconds }) };
}

/** The body of an order or a quote. Throws 400 that names every wrong field, without network. */
export function parseImageRequest(
  request: ApiRequest,
  operation: Extract<OperationName, 'generateImage' | 'quoteImage'>,
  { outboundRules }: ParseServices,
  token?: UserToken,
): ImageRequestBody {
  const body = jsonBody(request);
  const unknown = unknownParameters(request, operation);
  if (!token) return checkedBody(body, unknown, { outboundRules });
  const found = [...unknown, ...fieldsRefusedToToken(body, token)];
  return { ...checkedBody(body, found, { outboundRules }), user: token.user };
}

/** The same of a body that was read otherwise. @param found errors that are known already, and first */
export function checkedBody(
  body: Record<string, unknown>,
  found: readonly FieldError[],
  { outboundRules }: ParseServices,
  isInline: (address: string) => boolean = () => false,
): ImageRequestBody {
  const result = imageRequestSchema.safeParse(body, { reportInput: true });
  const missing = [missingPrompt(result.data ?? body), maskWithoutImage(result.data ?? body)];
  const errors = onePerField([
    ...found,
    ...fieldErrors(result.error?.issues ?? []),
    ...addressErrors(body, outboundRules, isInline),
    ...missing.filter((error) => error !== undefined),
  ]);
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return result.data;
}

/** An error for each address in the body that may not be used. The schema checks that it is a text. */
function addressErrors(
  { image_urls: images, mask_url: mask, webhook_url: webhook }: Record<string, unknown>,
  rules: OutboundRules,
  isInline: (address: string) => boolean,
): FieldError[] {
  const judge = (field: string, value: unknown, purpose: Purpose): FieldError[] => {
    if (typeof value === 'string' && isInline(value)) return [];
    if (typeof value === 'string' && purpose === 'image' && namesUpload(value))
      return uploadIdIn(value) === undefined ? [{ field, ...notUsable }] : [];
    const read = typeof value === 'string' ? readClientUrl(value, purpose, rules) : undefined;
    return read?.kind === 'refused' ? [{ field, code: read.code, message: read.why }] : [];
  };
  const listed: readonly unknown[] = Array.isArray(images) ? images : [];
  return [
    ...listed.flatMap((value, index) => judge(`image_urls[${index}]`, value, 'image')),
    ...judge('mask_url', mask, 'image'),
    ...judge('webhook_url', webhook, 'webhook'),
  ];
}

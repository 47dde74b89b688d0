/** The body of a request by the token of an end user: what the token binds, and what only a key may name. */
import { hashForUser, type UserToken } from '../accounts/user-token.ts';
import type { ImageRequestBody } from '../creations/image-request.ts';
import { namesUpload } from '../uploads/upload.ts';
import type { FieldError } from '../values/problem.ts';
import type { Idempotency } from './earlier-request.ts';

/** An error for each field that a page may not name: it must not aim the signed webhooks of its account. */
export function fieldsRefusedToToken(
  body: Readonly<Record<string, unknown>>,
  token: UserToken,
): FieldError[] {
  const refused = (field: string, message: string): FieldError => ({ field, code: 'invalid_value', message });
  const { user, image_urls: images, mask_url: mask } = body;
  const listed: readonly unknown[] = Array.isArray(images) ? images : [];
  const refusedAddress = (field: string, address: unknown): FieldError[] =>
    typeof address === 'string' && !namesUpload(address)
      ? [refused(field, 'must be an upload of the user, such as upload:ID')]
      : [];
  return [
    ...['webhook_url', 'metadata'].flatMap((field) =>
      (body[field] ?? null) === null ? [] : [refused(field, 'must be left out: the token has its own')],
    ),
    ...((user ?? token.user) === token.user
      ? []
      : [refused('user', 'must be left out, or the user of the token')]),
    ...listed.flatMap((address, index) => refusedAddress(`image_urls[${index}]`, address)),
    ...refusedAddress('mask_url', mask),
  ];
}

/** The body with webhook and metadata of the token. A repeated request need not have the same two. */
export function boundByToken(body: ImageRequestBody, { webhookUrl, metadata }: UserToken): ImageRequestBody {
  return {
    ...body,
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
    ...(metadata && { metadata }),
  };
}

/** The Idempotency-Key hashed for the user, so that all tokens of the user share it. */
export function idempotencyOfUser(idempotency: Idempotency, { id }: UserToken): Idempotency {
  return { ...idempotency, hash: hashForUser(id, idempotency.hash) };
}

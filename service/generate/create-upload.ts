import { tooManyUnusedUploads } from '../api/problems.ts';
import { type ApiRequest, jsonBody, unknownParameters } from '../api/request.ts';
import type { Handle } from '../api/serve.ts';
import { newUpload, type Upload, uploadSchema, uploadView } from '../uploads/upload.ts';
import { fieldErrors, invalidRequest } from '../values/problem.ts';
import type { UploadServices } from './open.ts';

/** POST /uploads: a signed address for an image, to which the client sends the bytes. Costs nothing. */
export const createUpload: Handle<UploadServices> = async (request, caller, services) => {
  const { uploads, uploadTargets, clock, randomBytes } = services;
  const { account, token } = caller;
  const { id: accountId, limits } = account;
  const asked = parseUpload(request);
  // Before the first write, so that a request that the rate refuses writes nothing.
  await caller.rateSlot.take();
  const nowMillis = clock.now();
  const upload = newUpload(
    { accountId, ...(token && { user: token.user }), ...asked },
    nowMillis,
    randomBytes,
  );
  const created = await uploads.create(upload, limits.maxUnusedUploads, nowMillis, token?.id);
  if (token && created.kind === 'token_used_up') throw token.usesExceeded();
  if (created.kind === 'too_many_unused')
    throw tooManyUnusedUploads(limits.maxUnusedUploads, created.current);
  return { status: 201, body: uploadView(upload, await uploadTargets.sign(upload, nowMillis)) };
};

function parseUpload(request: ApiRequest): Pick<Upload, 'contentType' | 'bytes'> {
  const result = uploadSchema.safeParse(jsonBody(request), { reportInput: true });
  const errors = [...unknownParameters(request, 'createUpload'), ...fieldErrors(result.error?.issues ?? [])];
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return { contentType: result.data.content_type, bytes: result.data.bytes };
}

/** The bucket of an account: one path serves the four operations, by method. */
import * as z from 'zod/mini';
import type { Caller } from '../api/admit.ts';
import type { ApiAnswer } from '../api/answer.ts';
import { creationNotFound } from '../api/problems.ts';
import { type ApiRequest, checkQuery, jsonBody, unknownParameters } from '../api/request.ts';
import type { Handle } from '../api/serve.ts';
import { owedCopy } from '../creations/copy-items.ts';
import { type CreationRecord, creationView } from '../creations/creation.ts';
import { parseCreationId } from '../values/ids.ts';
import { webhookEndpoints } from '../webhooks/webhook-endpoints.ts';
import { fieldErrors, invalidRequest, onePerField, Problem } from '../values/problem.ts';
import { bucketView } from './bucket.ts';
import { copyAgain, type RefusedCopy } from './copy-again.ts';
import { noBucket, setBucket } from './manage-bucket.ts';
import type { BucketApiServices } from './open.ts';

/** The endpoints or the bucket, by the path. */
export const endpointsAndBucket: Handle<BucketApiServices> = async (request, caller, services) =>
  (request.path.endsWith('/results/bucket') ? resultsBucket : webhookEndpoints)(request, caller, services);

const resultsBucket: Handle<BucketApiServices> = async (request, caller, services) => {
  switch (request.method) {
    case 'PUT':
      return set(request, caller, services);
    case 'POST':
      return again(request, caller, services);
    case 'DELETE':
      return remove(request, caller, services);
    default:
      return show(request, caller, services);
  }
};

/** GET /results/bucket. */
async function show(
  request: ApiRequest,
  { account }: Caller,
  { buckets }: BucketApiServices,
): Promise<ApiAnswer> {
  checkQuery(request, 'getBucket');
  const bucket = await buckets.read(account.id);
  if (!bucket) throw noBucket();
  return { status: 200, body: bucketView(bucket) };
}

/** PUT /results/bucket. */
async function set(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  services: BucketApiServices,
): Promise<ApiAnswer> {
  // Before the first write, so that a request that the rate refuses writes nothing.
  await rateSlot.take();
  const unknown = unknownParameters(request, 'setBucket');
  return { status: 200, body: bucketView(await setBucket(request, account.id, services, unknown)) };
}

/** DELETE /results/bucket: also when there is none, so that a repetition is the same answer. */
async function remove(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  { buckets }: BucketApiServices,
): Promise<ApiAnswer> {
  checkQuery(request, 'removeBucket');
  await rateSlot.take();
  await buckets.remove(account.id);
  return { status: 204, body: undefined };
}

const againSchema = z.strictObject({ creation_id: z.string() });

/** POST /results/bucket: copies the picture of one creation again. */
async function again(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  services: BucketApiServices,
): Promise<ApiAnswer> {
  await rateSlot.take();
  const result = againSchema.safeParse(jsonBody(request), { reportInput: true });
  const errors = onePerField([
    ...unknownParameters(request, 'copyAgain'),
    ...fieldErrors(result.error?.issues ?? []),
  ]);
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  if (!(await services.buckets.read(account.id))) throw noBucket();
  const id = parseCreationId(result.data.creation_id);
  const creation = id && (await services.creations.read(id));
  if (creation?.accountId !== account.id) throw creationNotFound();
  const outcome = await copyAgain(creation, services);
  if (outcome !== 'started') throw notCopied(outcome, creation);
  const now = services.clock.now();
  const addressOf = await services.results.of([creation]);
  const body = creationView({ ...creation, copy: owedCopy }, addressOf, now);
  return { status: 202, body };
}

const refusals: Readonly<Record<RefusedCopy, string>> = {
  not_completed: 'Only the picture of a completed creation can be copied.',
  no_results: 'The picture has expired or was deleted.',
  still_pending: 'The copy waits for its next attempt already.',
};

function notCopied(reason: RefusedCopy, { status }: CreationRecord): Problem {
  return new Problem('ERR_INVALID_REQUEST', refusals[reason], { reason, status });
}

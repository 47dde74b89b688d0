/** What clients do with the bucket of their account. */
import * as z from 'zod/mini';
import { type ApiRequest, jsonBody } from '../api/request.ts';
import { bucketProbeMillis } from '../contract/limits.ts';
import { type OutboundRules, readClientUrl } from '../outbound/client-url.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { AccountId } from '../values/ids.ts';
import {
  type FieldError,
  type FieldErrorCode,
  fieldErrors,
  invalidRequest,
  onePerField,
  Problem,
} from '../values/problem.ts';
import type { Clock } from '../values/runtime.ts';
import type { SecretBox } from '../webhooks/secret-box.ts';
import {
  bucketForms,
  type BucketKeys,
  type BucketPlace,
  longestPrefix,
  type StoredBucket,
} from './bucket.ts';
import { removeObject, storeObject } from './bucket-client.ts';
import type { BucketStore } from './bucket-store.ts';

export interface BucketServices {
  readonly clock: Pick<Clock, 'now'>;
  readonly outbound: Pick<Outbound, 'check' | 'request'>;
  readonly outboundRules: OutboundRules;
  readonly secretBox: SecretBox;
  readonly buckets: BucketStore;
}

const text = (form: RegExp, error: string) =>
  z.string().check(z.refine((value) => form.test(value), { error, params: { code: 'invalid_value' } }));
const key = 'must have 1 to 256 printable ASCII characters without spaces';

const schema = z.strictObject({
  endpoint: z.string(),
  region: text(bucketForms.region, 'must be the name of a region, such as eu-central-1, or auto'),
  bucket: text(bucketForms.bucket, 'must have 3 to 63 letters, digits, dots, hyphens and underscores'),
  prefix: z.nullish(
    text(
      bucketForms.prefix,
      'must be of letters, digits, dots, hyphens and underscores between single slashes',
    ).check(z.maxLength(longestPrefix)),
  ),
  credentials: z.strictObject({
    access_key_id: text(bucketForms.key, key),
    secret_access_key: text(bucketForms.key, key),
  }),
});

/** The name of the small object that a new setting writes, and deletes if its keys allow that. */
const probeName = 'darkroom-test.txt';

/** Sets the bucket after it has stored a small object. Throws 400 with the answer of the bucket. */
export async function setBucket(
  request: ApiRequest,
  account: AccountId,
  services: BucketServices,
  extra: readonly FieldError[] = [],
): Promise<StoredBucket> {
  const { place, keys } = parsed(request, services, extra);
  await tryOut(place, keys, services);
  const sealedKeys = await services.secretBox.seal(account, JSON.stringify(keys));
  const bucket = { ...place, sealedKeys, updatedAt: new Date(services.clock.now()).toISOString() };
  await services.buckets.set(account, bucket);
  return bucket;
}

/** 404: the account copies nothing. */
export function noBucket(): Problem {
  return new Problem('ERR_NOT_FOUND', 'This account has no bucket for results.');
}

function parsed(
  request: ApiRequest,
  { outboundRules }: BucketServices,
  extra: readonly FieldError[],
): { readonly place: BucketPlace; readonly keys: BucketKeys } {
  const body = jsonBody(request);
  const result = schema.safeParse(body, { reportInput: true });
  const { endpoint } = body;
  const wrong = typeof endpoint === 'string' ? wrongEndpoint(endpoint, outboundRules) : undefined;
  const errors = onePerField([
    ...extra,
    ...fieldErrors(result.error?.issues ?? []),
    ...(wrong ? [wrong] : []),
  ]);
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  const { region, bucket, prefix, credentials } = result.data;
  return {
    place: { endpoint: new URL(result.data.endpoint).origin, region, bucket, prefix: prefix ?? '' },
    keys: { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key },
  };
}

function wrongEndpoint(text: string, rules: OutboundRules): FieldError | undefined {
  const field = 'endpoint';
  const read = readClientUrl(text, 'webhook', rules);
  if (read.kind === 'refused') return { field, code: read.code, message: read.why };
  const { pathname, search, hash } = read.url;
  return pathname === '/' && search === '' && hash === ''
    ? undefined
    : { field, code: 'invalid_value', message: 'must have no path: the bucket has a field of its own' };
}

async function tryOut(place: BucketPlace, keys: BucketKeys, services: BucketServices): Promise<void> {
  const refused = (field: string, code: FieldErrorCode, message: string): never => {
    throw invalidRequest([{ field, code, message }]);
  };
  const verdict = await services.outbound.check(place.endpoint);
  if (verdict.kind === 'refused') return refused('endpoint', 'refused_target', verdict.why);
  const access = { place, keys, millis: bucketProbeMillis };
  const name = `${place.prefix}${probeName}`;
  const probe = {
    key: name,
    contentType: 'text/plain',
    bytes: Buffer.from('Darkroom can store results here.\n'),
  };
  const outcome = await storeObject(access, probe, services);
  if (outcome.kind === 'failed') return refused('bucket', 'bucket_refused', outcome.why);
  await removeObject(access, name, services);
}

/**
 * One attempt to copy the picture of a completed creation into the bucket of its client. Like an attempt of a
 * webhook, it is claimed before anything is sent. After a crash between the copy and its note the next
 * attempt stores the same bytes under the same name.
 */
import { bucketMillis } from '../contract/limits.ts';
import { objectKey } from '../creations/copy-items.ts';
import { type CreationRecord, hasDeletedImages, idsOf } from '../creations/creation.ts';
import type { ImageStore } from '../creations/image-store.ts';
import { requireKnownRelease } from '../creations/payload.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import { Overloaded } from '../values/errors.ts';
import { type AccountId, uuidV7 } from '../values/ids.ts';
import { logWith } from '../values/runtime.ts';
import { earlyMillis, notDelivered } from '../webhooks/owed.ts';
import type { DeliveryServices } from '../webhooks/open.ts';
import { type SecretBox, SecretLost } from '../webhooks/secret-box.ts';
import { waitAfter, webhookAttempts, webhookClaimedMillis } from '../webhooks/webhook.ts';
import type { BucketKeys, StoredBucket } from './bucket.ts';
import type { BucketStore } from './bucket-store.ts';
import { type StoreOutcome, storeObject } from './bucket-client.ts';
import type { CopyStore } from './copy-store.ts';

export interface CopyServices extends Pick<
  DeliveryServices,
  'clock' | 'log' | 'schema' | 'randomBytes' | 'creations' | 'outbound'
> {
  readonly images: (signal: AbortSignal) => Pick<ImageStore, 'get'>;
  readonly buckets: Pick<BucketStore, 'read'>;
  readonly copies: Pick<CopyStore, 'claim' | 'settle'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
}

/** Stops the copies. Objects in the client's bucket stay there. */
const deleted = 'the picture was deleted';

/** Throws WebhookNotDelivered when a further attempt is due later. */
export async function copyOwed(work: NoticeRecord, services: CopyServices): Promise<void> {
  const { clock, copies } = services;
  const { attempts, nextAt } = work.webhook;
  const creation = work.copyOf && (await services.creations.read(work.copyOf));
  if (creation) requireKnownRelease(creation, services);
  const fail = (error: string): Promise<void> =>
    copies.settle(work, attempts, { status: 'failed' }, { status: 'failed', attempts, url: null, error });
  if (attempts >= webhookAttempts) {
    // The last attempt began, never ended, and its time is over.
    if (nextAt <= clock.now()) await fail('the last attempt did not end');
    return;
  }
  const early = nextAt - clock.now();
  if (early > earlyMillis) throw notDelivered();
  if (early > 0) await clock.sleep(early);
  if (!creation || hasDeletedImages(creation)) return fail(deleted);
  if ((creation.resultsExpireAt ?? 0) <= clock.now()) return fail('the picture has expired');
  const bucket = await services.buckets.read(creation.accountId);
  if (!bucket) return fail('the account has no bucket any more');
  const bytes = await bytesOf(creation, services);
  if (!bytes) return fail(deleted);
  await attempt(work, { creation, bucket, bytes }, logWith(services, idsOf(creation)));
}

/**
 * Undefined: the picture was deleted since the creation was read. When our own bucket is busy, no attempt is
 * counted.
 */
async function bytesOf(
  { id, results: [image] }: CreationRecord,
  { images, creations, clock }: CopyServices,
): Promise<Uint8Array | undefined> {
  if (!image) throw new Error('a completed creation has no picture');
  const limit = clock.timeout(bucketMillis.read);
  try {
    return await images(limit.signal).get(image.key);
  } catch (error) {
    if (error instanceof Overloaded) throw notDelivered();
    const now = await creations.read(id);
    if (now && hasDeletedImages(now)) return undefined;
    throw error;
  } finally {
    limit.release();
  }
}

interface Attempted {
  readonly creation: CreationRecord;
  readonly bucket: StoredBucket;
  readonly bytes: Uint8Array;
}

async function attempt(work: NoticeRecord, copied: Attempted, services: CopyServices): Promise<void> {
  const { clock, copies, log, randomBytes } = services;
  const nowMillis = clock.now();
  const number = work.webhook.attempts + 1;
  const nextAt = nowMillis + webhookClaimedMillis + waitAfter(number);
  const claimedBy = uuidV7(nowMillis, randomBytes(16));
  if (!(await copies.claim({ work, attempt: number, claimedBy, nextAt, nowMillis }))) throw notDelivered();
  const before = clock.elapsed();
  const outcome = await store(copied, services);
  const isStored = outcome.kind === 'stored';
  const isLast = isStored || number === webhookAttempts;
  await copies.settle(
    work,
    number,
    isLast ? { status: isStored ? 'delivered' : 'failed' } : { at: clock.now() + waitAfter(number) },
    isStored
      ? { status: 'copied', attempts: number, url: outcome.url, error: null }
      : { status: isLast ? 'failed' : 'pending', attempts: number, url: null, error: outcome.why },
  );
  const millis = Math.round(clock.elapsed() - before);
  log.info('copy_attempted', { attempt: number, outcome: outcome.kind, millis });
  if (!isLast) throw notDelivered();
}

async function store({ creation, bucket, bytes }: Attempted, services: CopyServices): Promise<StoreOutcome> {
  const { id, accountId, results } = creation;
  const [image] = results;
  if (!image) throw new Error('a completed creation has no picture');
  const keys = await openKeys(accountId, bucket, services);
  if (!keys) return { kind: 'failed', why: 'the keys of the bucket can no longer be opened: set it again' };
  const object = { key: objectKey(bucket.prefix, id, image), contentType: image.contentType, bytes };
  return storeObject({ place: bucket, keys }, object, services);
}

/** Undefined: the keys can no longer be opened. */
async function openKeys(
  accountId: AccountId,
  { sealedKeys, updatedAt }: StoredBucket,
  { secretBox, log }: CopyServices,
): Promise<BucketKeys | undefined> {
  try {
    return JSON.parse(await secretBox.open(accountId, sealedKeys)) as BucketKeys;
  } catch (error) {
    if (!(error instanceof SecretLost)) throw error;
    log.alarm('webhook_secret_lost', { issuedAt: updatedAt });
    return undefined;
  }
}

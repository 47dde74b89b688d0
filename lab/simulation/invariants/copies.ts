/**
 * The invariants of copies: each completed picture of an account with a bucket is there, equal, or five attempts have
 * failed, or a deletion or the removal of the bucket has ended them. Without a bucket nothing is called.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import { bucketSecret, type BucketCall } from '../network/client-buckets.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

const mostAttempts = 5;

export function createCopyInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  /** Accounts that had a bucket once, and those that lost one. */
  const [had, lost] = [new Set<string>(), new Set<string>()];
  /** The bytes of each picture when its creation was completed. */
  const pictures = new Map<string, Uint8Array>();
  /** The attempts that have sent something. */
  const used = new Set<string>();

  const recordOf = (id: string): Item | undefined => service()?.table.get(`CREATION#${id}`, 'CREATION');
  const workOf = (id: string): Item | undefined => service()?.table.get(`NOTICE#ntc_${id}`, 'NOTICE');
  const statusOf = (item: Item | undefined): string => item?.['copy']?.M?.['status']?.S ?? '';

  function followAccount({ pk, sk, after }: Change): void {
    const account = pk.slice('ACCOUNT#'.length);
    if (sk !== 'BUCKET') return;
    if (after) had.add(account);
    else lost.add(account);
    if (JSON.stringify(after ?? {}).includes(bucketSecret))
      accuse('the keys of a bucket are sealed', account);
    const item = service()?.table.get(pk, 'ACCOUNT');
    if (item && !item['erasedAt'] && (item['copies'] !== undefined) !== (after !== undefined))
      accuse('the account says whether it has a bucket', account);
  }

  function followCreation({ before, after }: Change): void {
    if (!after) return;
    const id = textOf(after, 'id');
    const image = after['results']?.L?.[0]?.M?.['key']?.S ?? '';
    const bytes = service()?.bucket.contents.get(image);
    if (textOf(before, 'status') !== 'completed' && bytes) pictures.set(id, bytes);
    if (!before && after['copies'] && !had.has(textOf(after, 'accountId')))
      accuse('without a bucket nothing is copied', id);
    if (statusOf(after) === 'copied' && statusOf(before) !== 'copied') isThere(id, after);
  }

  function isThere(id: string, item: Item): void {
    const account = textOf(item, 'accountId');
    const url = item['copy']?.M?.['url']?.S ?? '';
    // https://bucket.test/BUCKET/PREFIX/KEY
    const key = url.split('/').slice(4).join('/');
    const stored = service()?.clientBuckets.objectAt(account, key);
    const picture = pictures.get(id);
    if (!stored || !picture || !stored.equals(picture))
      accuse('copied means equal in the bucket', `${id} ${url}`);
  }

  function followWork({ after }: Change): void {
    if (Number(after?.['webhook']?.M?.['attempts']?.N ?? 0) > mostAttempts)
      accuse('a copy is tried five times', textOf(after, 'id'));
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const change of changes) {
        followAccount(change);
        if (change.sk === 'CREATION') followCreation(change);
        if (change.after?.['copyOf']) followWork(change);
      }
    },
    onBucketCall: ({ account, method, key, sender }: BucketCall) => {
      const [, id] = /([0-9a-f-]{36})\.\w+$/.exec(key) ?? [];
      if (id === undefined || method !== 'PUT') return;
      if (!had.has(account)) accuse('without a bucket nothing is called', id);
      const claim = workOf(id)?.['webhook']?.M?.['claimedBy']?.S ?? '';
      if (claim === '' || used.has(claim))
        accuse('each attempt of a copy is claimed, and made once', `${id} by ${sender?.id ?? ''}`);
      used.add(claim);
    },
    /** @param hasNoResults whether the images of a creation are deleted */
    atRest: (ids: Iterable<string>, hasNoResults: (id: string) => boolean) => {
      for (const id of ids) {
        const item = recordOf(id);
        if (!item?.['copies'] || textOf(item, 'status') !== 'completed' || item['erasedBy']) continue;
        const account = textOf(item, 'accountId');
        const status = statusOf(item);
        const attempts = Number(item['copy']?.M?.['attempts']?.N ?? 0);
        if (status !== 'copied' && status !== 'failed') accuse('each copy is settled', `${id}: ${status}`);
        const isEnded = hasNoResults(id) || lost.has(account) || world.injected.length > 0;
        if (status === 'failed' && attempts < mostAttempts && !isEnded)
          accuse('a copy is tried five times', `${id}: ${attempts}`);
        if (status === 'copied') isThere(id, item);
      }
    },
  };
}

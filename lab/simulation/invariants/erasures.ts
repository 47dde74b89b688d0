/**
 * The invariants of erasures, over all stores. From the write that erases a creation, its record and the answers
 * about it have no text of the client. At rest neither the table nor the bucket has anything of it.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import { promptMark } from '../clients/open-accounts.ts';
import { asBody, type Body } from '../clients/requests.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

const left = 'nothing is left of an erased creation';
const leftResults = 'no deleted result is left';

const keysIn = (item: Item | undefined, list: string, name: string): string[] =>
  (item?.[list]?.L ?? []).flatMap(({ M }) => M?.[name]?.S ?? []);

/** The keys of its results and their thumbnails, also of those that a late renderer stores. */
function resultsOf(item: Item | undefined): string[] {
  const results = [...keysIn(item, 'results', 'key'), ...keysIn(item, 'attempts', 'resultKey')];
  const forms = results.flatMap((key) => ['96', '480'].map((side) => key.replace(/\.\w+$/, `-${side}.webp`)));
  return [...results, ...forms];
}

/** The keys of all its images. */
function imagesOf(item: Item | undefined): string[] {
  const mask = item?.['mask']?.M?.['key']?.S;
  return [...keysIn(item, 'sources', 'key'), ...(mask === undefined ? [] : [mask]), ...resultsOf(item)];
}

/** What the client sent, as the record had it. */
function textsOf(item: Item | undefined): string[] {
  const { prompt, negativePrompt, user, webhook, metadata } = item ?? {};
  const ofWebhook = ['url', 'body'].map((name) => webhook?.M?.[name]?.S);
  return [prompt?.S, negativePrompt?.S, user?.S, ...ofWebhook, metadata?.S].filter(
    (text): text is string => text !== undefined && text !== '' && text !== '{}',
  );
}

export function createErasureInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  /** When each erased creation was erased, and the images that it had then. */
  const erased = new Map<string, { readonly at: number; readonly images: Set<string> }>();

  /** When the results of each creation were deleted alone, and their keys. */
  const withoutResults = new Map<string, { readonly at: number; readonly images: Set<string> }>();

  /** The notices of erased accounts, as they were. */
  const notices = new Map<string, { readonly at: number; readonly item: Item }>();
  const accounts = new Set<string>();
  /** Those that age alone has erased, too. */
  const withoutTexts = new Set<string>();

  function isEmpty(id: string, item: Item): void {
    const texts = textsOf(item);
    if (texts.length > 0) accuse(left, `the record of ${id} has ${texts.join(', ')}`);
  }

  /** @param before the record as it was before its texts were erased */
  function isRipe(id: string, before: Item | undefined): void {
    if (!/^(completed|failed)$/.test(textOf(before, 'status')))
      accuse('only a creation that has ended is erased', id);
  }

  function losesResults(before: Item | undefined, after: Item): void {
    const id = textOf(after, 'id');
    const known = withoutResults.get(id) ?? { at: world.time.now(), images: new Set<string>() };
    withoutResults.set(id, known);
    for (const key of resultsOf(after)) known.images.add(key);
    if (after['colours']) accuse(leftResults, `the record of ${id} has the colours of its picture`);
    if (textOf(before, 'resultsDeletedBy') !== '') return;
    if (textOf(before, 'status') !== 'completed') accuse('only a completed creation loses its results', id);
    const kept = (item: Item | undefined): string =>
      JSON.stringify(
        ['prompt', 'metadata', 'user', 'webhook', 'dueAt', 'openShard'].map((name) => item?.[name]),
      );
    if (kept(before) !== kept(after)) accuse('a deletion of results changes nothing else', id);
  }

  /** A row in the partition of an erased account: books without texts, or counts of later requests. */
  function isOfBooks(item: Item): void {
    const sk = textOf(item, 'sk');
    const isKept =
      /^(ACCOUNT|ADDED_KEYS|KEY#|LEDGER#|PAYMENT#|REFERENCE#|RATE#|HELD#|IDEMPOTENCY#|RETRY#)/.test(sk);
    const { user, noticeUrl, webhookSecrets } = item;
    if (!isKept || user || noticeUrl || (webhookSecrets?.L ?? []).length > 0)
      accuse('nothing is left of an erased account', `${textOf(item, 'pk')} ${sk}`);
  }

  function isErasedRow(row: Item): void {
    const isExpired = Number(row['expiresAtSeconds']?.N) * 1_000 <= world.time.now();
    const account = service()?.table.get(textOf(row, 'pk'), 'ACCOUNT');
    if (!isExpired && !withoutTexts.has(textOf(row, 'creationId')) && !account?.['erasedAt'])
      accuse('only rows of erased creations are deleted', textOf(row, 'sk'));
  }

  /** Every creation in an answer that was asked for after the erasure. */
  function showsNothing(value: unknown, askedAt: number): void {
    const body: Body = asBody(value) ?? {};
    const known = erased.get(String(body['id']));
    if (known && known.at < askedAt) {
      const { prompt = null, metadata = {}, user = null, webhook = null, result_urls: urls = [] } = body;
      const texts = body['negative_prompt'] === undefined ? prompt : 'a negative prompt';
      const shown = JSON.stringify([texts, metadata, user, webhook, urls]);
      if (shown !== '[null,{},null,null,[]]')
        accuse('an answer shows nothing erased', `${String(body['id'])}: ${shown}`);
    }
    const since = withoutResults.get(String(body['id']))?.at;
    if (since !== undefined && since < askedAt && JSON.stringify(body['result_urls'] ?? []) !== '[]')
      accuse('an answer shows no deleted result', String(body['id']));
    for (const member of Object.values(body))
      for (const one of Array.isArray(member) ? member : [member])
        if (typeof one === 'object') showsNothing(one, askedAt);
  }

  return {
    has: (id: string): boolean => erased.has(id),
    /** Whether its images are deleted, with its texts or alone. */
    hasNoResults: (id: string): boolean => erased.has(id) || withoutResults.has(id),
    /** Whether its texts are erased, by age or by a request. */
    hasNoTexts: (id: string): boolean => withoutTexts.has(id),
    erasedAt: (id: string): number | undefined => erased.get(id)?.at ?? notices.get(id)?.at,
    /** A notice as it was before the erasure of its account. */
    erasedNotice: (id: string): Item | undefined => notices.get(id)?.item,
    onCommit: (changes: readonly Change[]) => {
      for (const { sk, before, after } of changes) {
        if (sk === 'NOTICE' && before && !after)
          notices.set(textOf(before, 'id'), { at: world.time.now(), item: before });
        if (sk.startsWith('DELIVERY#') && before && !after) isErasedRow(before);
        if (sk === 'CREATION' && after && textOf(after, 'resultsDeletedBy') !== '')
          losesResults(before, after);
        if (sk !== 'CREATION' || !after || textOf(after, 'erasedAt') === '') continue;
        const id = textOf(after, 'id');
        withoutTexts.add(id);
        isEmpty(id, after);
        if (textOf(before, 'erasedAt') === '') isRipe(id, before);
        if (textOf(after, 'erasedBy') === '') continue;
        const known = erased.get(id) ?? { at: world.time.now(), images: new Set<string>() };
        erased.set(id, known);
        for (const key of imagesOf(after)) known.images.add(key);
        if (after['colours']) accuse(left, `the record of ${id} has the colours of its picture`);
      }
    },
    /** The service has answered a DELETE with 204. */
    onDeleted: (id: string) => {
      const item = service()?.table.get(`CREATION#${id}`, 'CREATION');
      if (textOf(item, 'erasedBy') === '') accuse('a 204 means that the texts are erased', id);
    },
    /** The service has answered a DELETE of the results with 204. */
    onResultsDeleted: (id: string) => {
      const now = service();
      const item = now?.table.get(`CREATION#${id}`, 'CREATION');
      for (const key of keysIn(item, 'results', 'key'))
        if (now?.bucket.stored.has(key)) accuse(leftResults, `after the 204 the bucket has ${key} of ${id}`);
      if (textOf(item, 'resultsDeletedBy') === '' && textOf(item, 'erasedBy') === '')
        accuse('a 204 means that the results are deleted', id);
    },
    /** The command has said that nothing is left of the account. */
    onAccountErased: (account: string) => void accounts.add(account),
    onAnswer: showsNothing,
    atRest: ({ table, bucket }: Service) => {
      for (const [id, { images }] of erased) {
        for (const key of images) if (bucket.stored.has(key)) accuse(left, `the bucket has ${key} of ${id}`);
        const item = table.get(`CREATION#${id}`, 'CREATION');
        if (item) isEmpty(id, item);
      }
      for (const [id, { images }] of withoutResults) {
        for (const key of images)
          if (bucket.stored.has(key)) accuse(leftResults, `the bucket has ${key} of ${id}`);
        const again = table.get(`CREATION#${id}`, 'RESULTS');
        if (again?.['dueAt']) accuse('at rest no second deletion is due', id);
      }
      const doneUntil = textOf(table.get('ERASE', 'BY_AGE'), 'doneUntil');
      for (const item of table.all()) {
        const account = textOf(item, 'pk').split('#')[1] ?? '';
        if (accounts.has(account)) isOfBooks(item);
        if (accounts.has(textOf(item, 'accountId')) && textOf(item, 'sk') === 'CREATION')
          if (!erased.has(textOf(item, 'id')))
            accuse('nothing is left of an erased account', textOf(item, 'id'));
        const of = textOf(item, 'creationId');
        const sk = textOf(item, 'sk');
        if (sk.startsWith('DELIVERY#') && erased.has(of)) accuse(left, `${sk} of ${of}`);
        const isOld = sk === 'CREATION' && textOf(item, 'createdAt') < doneUntil;
        if (isOld && !withoutTexts.has(textOf(item, 'id')))
          accuse('the texts of old creations are erased', textOf(item, 'id'));
        // Only a record has a prompt, and an erased one has none. A refused request made no record.
        if (sk !== 'CREATION' && !sk.startsWith('REFUSED#') && JSON.stringify(item).includes(promptMark))
          accuse('only the record of a creation has its prompt', `${textOf(item, 'pk')} ${sk}`);
      }
    },
  };
}

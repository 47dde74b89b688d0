/**
 * The invariants of calls that a library repeats by itself: no call is paid twice, each picture that is paid for is
 * in an answer, and every refusal says whether a retry helps.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { OpenaiAnswer } from '../aws/portal-and-openai.ts';
import type { Change } from '../aws/simulated-table.ts';
import { bodyOf, detailsOf } from '../clients/requests.ts';
import type { OpenaiCalls } from '../clients/scenario.ts';
import { type Accuse, textOf } from './money-books.ts';

/** A call, as its client knows it. */
export interface AskedCall {
  readonly account: string;
  /** The body of the call, which is equal in all calls of a step. */
  readonly body: string;
  readonly form: OpenaiCalls['form'];
}

interface Body {
  calls: number;
  readonly pictures: number;
  /** The creations that are not refunded. */
  readonly unrefunded: Set<string>;
  /** Creations of answers to first tries, while no call was repeated. */
  readonly told: Set<string>;
  wasRepeated: boolean;
}

export function createRetryInvariants(service: () => Service | undefined, accuse: Accuse) {
  const bodies = new Map<string, Body>();
  const itemOf = (id: string): Item | undefined => service()?.table.get(`CREATION#${id}`, 'CREATION');
  const bodyOfCall = ({ account, body }: AskedCall): Body | undefined => bodies.get(`${account} ${body}`);

  function isNotPaidTwice(name: string, body: Body): void {
    if (body.unrefunded.size > body.calls * body.pictures)
      accuse(
        'a call is never paid twice',
        `${name}: ${body.unrefunded.size} creations for ${body.calls} calls of ${body.pictures}`,
      );
  }

  /** The answer names creations of the account with this body, and has the picture of each that has completed. */
  function holdsItsPictures(
    { account, body, form }: AskedCall,
    { headers, body: text }: OpenaiAnswer,
  ): string[] {
    const ids = (headers['x-darkroom-creation-id'] ?? '').split(',').filter((id) => id !== '');
    const items = ids.map(itemOf);
    for (const [index, item] of items.entries()) {
      if (!item || textOf(item, 'accountId') !== account || calledIn(item)?.calls !== body)
        accuse('an answer tells of creations of its own call', `${body}: ${ids[index] ?? ''}`);
    }
    const keys = items.flatMap(
      (item) => item?.['results']?.L?.map((image) => image.M?.['key']?.S ?? '') ?? [],
    );
    const told = picturesIn(text, form);
    if (told === 'error') return ids;
    const paid = keys.filter((key) => service()?.bucket.stored.has(key));
    if (ids.length === 0 || told.length === 0 || told.length !== paid.length)
      accuse('an answer holds every picture that is paid for', `${body}: ${told.length} of ${paid.length}`);
    return ids;
  }

  return {
    /** Called when a client begins a call. */
    onCall: (account: string, { name, count, form }: OpenaiCalls): AskedCall => {
      const asked = { account, body: name, form };
      const known = bodyOfCall(asked) ?? {
        calls: 0,
        pictures: count,
        unrefunded: new Set(),
        told: new Set(),
        wasRepeated: false,
      };
      known.calls += 1;
      bodies.set(`${account} ${name}`, known);
      return asked;
    },
    /** Called when a library repeats the call. */
    onRetry: (asked: AskedCall) => {
      const body = bodyOfCall(asked);
      if (body) body.wasRepeated = true;
    },
    /** Receives the answer that a client got. */
    onAnswer: (asked: AskedCall, attempt: number, answer: OpenaiAnswer) => {
      const body = bodyOfCall(asked);
      if (!body) return;
      if (answer.status >= 300) {
        if (!['true', 'false'].includes(answer.headers['x-should-retry'] ?? ''))
          accuse('a refusal says whether a retry helps', `${answer.status} ${answer.body.slice(0, 100)}`);
        return;
      }
      const ids = holdsItsPictures(asked, answer);
      if (attempt > 0 || body.wasRepeated) return;
      for (const id of ids) {
        if (body.told.has(id)) accuse('calls that are not repeated have pictures of their own', id);
        body.told.add(id);
      }
    },
    onCommit: (changes: readonly Change[]) => {
      const fresh = new Map<string, number>();
      for (const { sk, before, after } of changes) {
        if (sk !== 'CREATION' || !after) continue;
        const call = calledIn(after);
        if (!call) continue;
        const name = `${textOf(after, 'accountId')} ${call.calls}`;
        const body = bodies.get(name);
        if (!body) continue;
        if (textOf(after, 'status') === 'failed') body.unrefunded.delete(textOf(after, 'id'));
        else body.unrefunded.add(textOf(after, 'id'));
        if (!before) fresh.set(name, (fresh.get(name) ?? 0) + 1);
        isNotPaidTwice(name, body);
      }
      for (const [name, count] of fresh) {
        const pictures = bodies.get(name)?.pictures;
        if (count !== pictures)
          accuse('all pictures of a call are charged together', `${name}: ${count} of ${pictures ?? 0}`);
      }
    },
  };
}

interface Called {
  readonly calls?: string;
}

/** The call of which a creation is, by the metadata that the client gave it. */
function calledIn(item: Item): Called | undefined {
  const metadata = JSON.parse(textOf(item, 'metadata')) as Called;
  return metadata.calls === undefined ? undefined : metadata;
}

/** The pictures of an answer. A stream may end with an error instead. */
function picturesIn(text: string, form: OpenaiCalls['form']): readonly unknown[] | 'error' {
  if (form !== 'stream') return bodyOf(text)['data'] as readonly unknown[];
  if (text.includes('\nevent: error\n')) return 'error';
  return text.split('\n').filter((line) => line.startsWith('data: '));
}

/** Whether an answer says that the request has charged, or may have charged. An answer of the gateway may. */
export function saysCharged({ status, body }: OpenaiAnswer): boolean {
  const details = status < 400 || status === 500 ? undefined : detailsOf(body);
  if (!details) return true;
  return details['creation_id'] !== undefined || details['creation_ids'] !== undefined;
}

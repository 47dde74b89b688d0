/**
 * The invariants of notices by e-mail: who confirmed gets each notice that the person chose, and nobody gets another
 * one, of another account, or one after the answer that ended them.
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { bodyOf } from '../clients/requests.ts';
import type { Published } from '../network/mails.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

/** What a person chose for some time. */
interface Version {
  readonly kinds: readonly string[];
  readonly address: string;
  readonly from: number;
  until: number;
}

interface Try {
  readonly attempt: number;
  readonly at: number;
  readonly sender: Invocation | undefined;
}

interface Told {
  readonly account: string;
  readonly type: string;
  /** When the invocation began that sent the notice. The invocation may have read the account then. */
  readonly from: number;
}

/** The id of a person in the record of a notice begins so. */
export const mailPrefix = 'mail_';
/** An account's id has so many characters, and a hyphen stands between it and the person. */
const accountLength = 10;
const waitsMillis = [60_000, 120_000, 240_000, 480_000] as const;

export function createMailInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  /** By the name of the topic: account and person. */
  const choices = new Map<string, Version[]>();
  /** When an answer said that a person gets nothing more. A later choice takes it back. */
  const overSince = new Map<string, number>();
  /** The calls of the portal that end e-mails, by their invocations. */
  const ending = new Map<string, string>();
  const told = new Map<string, Told>();
  /** The notice that an invocation delivers. */
  const delivers = new Map<string, string>();
  const published = new Map<string, Published[]>();
  /** Each Publish that has arrived, by the notice and the topic, whatever became of it. */
  const tries = new Map<string, Try[]>();

  const nameOf = (account: string, person: string): string => `${account}-${person}`;
  const accountIn = (topic: string): string => topic.slice(0, accountLength);
  const personIn = (topic: string): string => topic.slice(accountLength + 1);
  const choosesAt = (topic: string, from: number, until: number): readonly Version[] =>
    (choices.get(topic) ?? []).filter((one) => one.from <= until && one.until >= from);
  const slack = (): number => world.clocks.largestSkew() + 1_000;

  function followChoice({ pk, sk, before, after }: Change): void {
    const [old, next] = [before?.['mail']?.M, after?.['mail']?.M];
    if (JSON.stringify(old) === JSON.stringify(next)) return;
    const topic = nameOf(pk.slice('ACCOUNT#'.length), sk.slice('MEMBER#'.length));
    const now = world.time.now();
    const all = choices.get(topic) ?? [];
    const last = all.at(-1);
    if (last && last.until === Infinity) last.until = now;
    if (!next) return;
    const kinds = next['kinds']?.L?.map(({ S = '' }) => S) ?? [];
    choices.set(topic, [...all, { kinds, address: textOf(next, 'address'), from: now, until: Infinity }]);
    overSince.delete(topic);
  }

  /** The check of thresholds reads only the account, so the account must say that people have e-mails. */
  function isKnownToTheAccount(table: SimulatedTable, pk: string): void {
    const account = pk.slice('ACCOUNT#'.length);
    const has = [...choices].some(
      ([topic, versions]) => accountIn(topic) === account && versions.at(-1)?.until === Infinity,
    );
    if (has && table.get(pk, 'ACCOUNT')?.['mailChoices'] === undefined)
      accuse('an account knows that somebody gets e-mails', account);
  }

  const webhookOf = (notice: string): Item | undefined =>
    service()?.table.get(`NOTICE#${notice}`, 'NOTICE')?.['webhook']?.M;

  function scheduleOf(notice: string, topic: string): Item | undefined {
    return webhookOf(notice)?.['endpoints']?.M?.[`${mailPrefix}${personIn(topic)}`]?.M;
  }

  /** Only a person who wants the notice gets it. The choice of the person is read at each attempt. */
  function isWanted({ topic, to, sender, at }: Published, notice: string, { type }: Told): void {
    if (to.length === 0) return;
    const during = choosesAt(topic, (sender?.startedAt ?? at) - 1, at);
    const isChosen = during.some(({ kinds, address }) => kinds.includes(type) && to.includes(address));
    if (!isChosen) accuse('nobody gets an e-mail that they did not choose', `${topic}: ${type} ${notice}`);
    const over = overSince.get(topic);
    if (over !== undefined && over <= at)
      accuse('nobody gets an e-mail after the answer that ended them', `${topic}: ${type} ${notice}`);
  }

  function keepsTheSchedule(notice: string, topic: string, sender: Invocation | undefined): void {
    const name = `${notice} ${topic}`;
    const before = tries.get(name) ?? [];
    const last = before.at(-1);
    const attempt = Number(scheduleOf(notice, topic)?.['attempts']?.N ?? 0);
    const one = { attempt, at: world.time.now(), sender };
    tries.set(name, [...before, one]);
    if (attempt < 1 || attempt > 5) accuse('at most five attempts', `${name}: attempt ${attempt}`);
    // A call that arrives late belongs to an attempt whose time is over.
    if (!last || last.sender?.faulted === true || sender?.faulted === true) return;
    const waited = one.at - last.at;
    if (attempt <= last.attempt) accuse('an attempt is sent once', `${name}: attempt ${attempt}`);
    if (waited < (waitsMillis[last.attempt - 1] ?? Infinity) - slack())
      accuse('never early', `${name}: attempt ${attempt} after ${waited} ms`);
    if (published.get(name)?.some(({ isKnown, sender: by }) => isKnown && by?.faulted === false) === true)
      accuse('an e-mail that SNS has taken is not sent again', name);
  }

  /** Whether the person wanted the notice all the time, under one address that was confirmed all the time. */
  function isOwed(topic: string, { type, from }: Told): string | undefined {
    const during = choosesAt(topic, from, Infinity);
    const [first, last] = [during[0], during.at(-1)];
    if (!first || first.from > from - slack() || last?.until !== Infinity) return undefined;
    const { address } = first;
    const isSteady = during.every((one) => one.kinds.includes(type) && one.address === address);
    const since = service()?.mails?.reachesSince(topic, address);
    return isSteady && since !== undefined && since <= from - slack() ? address : undefined;
  }

  function isSettled(notice: string, topic: string, type: string): void {
    const name = `${notice} ${topic}`;
    const schedule = scheduleOf(notice, topic);
    const status = schedule?.['status']?.S;
    const tries = schedule?.['attempts']?.N;
    const sent = published.get(name) ?? [];
    // A round that finds nobody any more, and no secret, ends the whole.
    const isWhole = webhookOf(notice)?.['status']?.S === 'skipped';
    if (status === 'pending' && !isWhole) accuse('each e-mail ends in its schedule', name);
    if (status === 'delivered' && sent.length === 0)
      accuse('delivered means that SNS took the e-mail', `${name}: ${type}`);
    if (status === 'failed' && tries !== '5')
      accuse('an e-mail is tried five times', `${name}: ${tries ?? ''}`);
  }

  function reachesWhoWants(notice: string, topic: string, of: Told): void {
    const address = isOwed(topic, of);
    if (address === undefined) return;
    const status = scheduleOf(notice, topic)?.['status']?.S ?? 'unnamed';
    const sent = published.get(`${notice} ${topic}`) ?? [];
    const isReached = sent.some(({ to }) => to.includes(address));
    // SNS may have refused five times.
    const isRefused = status === 'failed' && (tries.has(`${notice} ${topic}`) || world.injected.length > 0);
    if (!isReached && !isRefused)
      accuse('who confirmed gets each notice', `${topic}: ${of.type} ${notice} is ${status}`);
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const change of changes) if (change.sk.startsWith('MEMBER#')) followChoice(change);
      const table = service()?.table;
      if (choices.size === 0 || !table) return;
      for (const { pk, sk, before, after } of changes) {
        if (sk === 'ACCOUNT' || sk.startsWith('MEMBER#')) isKnownToTheAccount(table, pk);
        if (sk !== 'NOTICE' || before || !after) continue;
        const from = world.current()?.startedAt ?? world.time.now();
        told.set(textOf(after, 'id'), {
          account: textOf(after, 'accountId'),
          type: textOf(after, 'type'),
          from,
        });
      }
    },
    /** An invocation begins to deliver a notice. */
    onDelivers: (invocation: string, notice: string) => void delivers.set(invocation, notice),
    onPublish: (topic: string, sender: Invocation | undefined) => {
      const notice = delivers.get(sender?.id ?? '') ?? '';
      if (accountIn(topic) !== told.get(notice)?.account)
        accuse('nobody is told of another account', `${topic}: ${notice}`);
      else keepsTheSchedule(notice, topic, sender);
    },
    onPublished: (one: Published) => {
      const notice = delivers.get(one.sender?.id ?? '') ?? '';
      const of = told.get(notice);
      if (!of) return;
      const account = service()?.table.get(`ACCOUNT#${of.account}`, 'ACCOUNT');
      if (!one.mail.text.includes(textOf(account, 'name')))
        accuse('an e-mail names its account', `${one.topic}: ${notice}`);
      isWanted(one, notice, of);
      const name = `${notice} ${one.topic}`;
      published.set(name, [...(published.get(name) ?? []), one]);
    },
    onSent: ({ id }: Invocation, event: APIGatewayProxyEventV2) => {
      const [, person = '', account = ''] = (event.cookies?.[0] ?? '').split('.');
      const { notices } = bodyOf(event.body);
      const isOff = event.routeKey.endsWith('/emails') && Array.isArray(notices) && notices.length === 0;
      const removed = event.routeKey.endsWith('/people/{id}') && event.routeKey.startsWith('DELETE ');
      if (isOff) ending.set(id, nameOf(account, person));
      if (removed) ending.set(id, nameOf(account, event.pathParameters?.['id'] ?? ''));
    },
    onServed: ({ id, faulted, startedAt }: Invocation, { statusCode }: APIGatewayProxyStructuredResultV2) => {
      const topic = ending.get(id);
      // A removal whose call of SNS failed leaves the topic, and says so in the log.
      if (topic === undefined || statusCode !== 200 || faulted) return;
      const last = choices.get(topic)?.at(-1);
      if (last?.until === Infinity && last.from < startedAt)
        accuse('an answer that ends e-mails ends the choice', topic);
      // A choice that was made meanwhile stays.
      if (last && last.until !== Infinity && last.until >= startedAt) overSince.set(topic, world.time.now());
    },
    atRest: () => {
      for (const [notice, of] of told)
        for (const topic of choices.keys()) {
          if (accountIn(topic) !== of.account) continue;
          isSettled(notice, topic, of.type);
          reachesWhoWants(notice, topic, of);
        }
      if (world.injected.length > 0 || world.incidents.size > 0) return;
      for (const topic of service()?.mails?.names() ?? [])
        if (choices.get(topic)?.at(-1)?.until !== Infinity) accuse('who gets no e-mails has no topic', topic);
    },
  };
}

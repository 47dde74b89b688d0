/** The invariants of the walk over the routes of a creation, where providers go down and come back. */
import type { Attribute, Item } from '../../../local/dynamodb/attributes.ts';
import type { Catalog } from '../../../service/catalog/catalog-schema.ts';
import { mergeCatalog, type OperatorCatalog } from '../../../service/catalog/operator-catalog.ts';
import type { ProviderAnswer } from '../../../service/vendors/provider.ts';
import { catalog as ours } from '../aws/deployed-service.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import {
  type AskedProvider,
  flappingProviders,
  type FlappingObserver,
} from '../network/flapping-providers.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface RouteInvariants extends FlappingObserver {
  /** Receives the creation that an invocation renders. */
  readonly onRenders: (invocation: string, creation: string) => void;
  readonly onCommit: (changes: readonly Change[]) => void;
}

interface Ask {
  readonly asked: AskedProvider;
  /** Absent while the answer has not reached the function. */
  answer?: { readonly is: ProviderAnswer; readonly at: number };
}

/** What the product promises of a vendor that names a moment (service/render/walk-routes.ts). */
const mostRestMillis = 120_000;
const mostAsks = 5;
const leastAskMillis = 5_000;
const reserveMillis = 2_000;
/** The product claims probes 15 s apart, by the clocks of its functions. */
const leastProbeMillis = 10_000;
/** A function needs some calls to decide. */
const slackMillis = 1_000;

const nameOf = (provider: string, model: string): string => `${provider} ${model}`;
const nameOfMembers = (members: Readonly<Record<string, Attribute>>): string =>
  nameOf(members['provider']?.S ?? '', members['providerModel']?.S ?? '');
const membersOf = (attribute: Attribute | undefined): readonly Readonly<Record<string, Attribute>>[] =>
  (attribute?.L ?? []).flatMap(({ M }) => (M ? [M] : []));
const millisOf = (item: Item | undefined, name: string): number | undefined =>
  item?.[name]?.N === undefined ? undefined : Number(item[name].N);

/** When the vendor wants to be asked again. Undefined: its answer named no moment, or is not known. */
function momentOf({ answer }: Ask): number | undefined {
  if (answer?.is.kind !== 'refused' || answer.is.retryAfterMillis === undefined) return undefined;
  return answer.at + Math.min(answer.is.retryAfterMillis, mostRestMillis);
}

export function createRouteInvariants(
  world: World,
  table: () => SimulatedTable | undefined,
  accuse: Accuse,
): RouteInvariants {
  /** The creation that each invocation renders. */
  const rendered = new Map<string, string>();
  /** The calls for each creation. */
  const asks = new Map<string, Ask[]>();
  /** When the probe of each opening was claimed last. */
  const claims = new Map<string, number>();
  const asksAt = (creation: string, name: string): readonly Ask[] =>
    (asks.get(creation) ?? []).filter(({ asked }) => nameOf(asked.provider, asked.providerModel) === name);

  /** A call may be repeated only after an answer that proves that nothing was accepted, and not too early. */
  function isNotAskedTwice(creation: string, asked: AskedProvider): void {
    const name = nameOf(asked.provider, asked.providerModel);
    const last = asksAt(creation, name).at(-1);
    if (!last) return;
    const moment = momentOf(last);
    if (moment === undefined)
      accuse(
        'no route is asked twice',
        `${creation} asks ${name} again after ${JSON.stringify(last.answer ?? 'no answer')}`,
      );
    else if (asked.at + slackMillis + world.clocks.largestSkew() < moment)
      accuse(
        'a vendor is left alone as long as it asked for',
        `${creation} asks ${name} ${moment - asked.at} ms early`,
      );
  }

  /** A provider that may have accepted a job gets no other job of the same creation. */
  function isNotAskedInTheDark(creation: string, { provider, providerModel }: AskedProvider): void {
    const item = table()?.get(`CREATION#${creation}`, 'CREATION');
    for (const attempt of membersOf(item?.['attempts']))
      if (attempt['provider']?.S === provider && attempt['outcome']?.S === 'unknown_outcome')
        accuse(
          'a provider with an unknown outcome is not asked again',
          `${creation} asks ${provider} for ${providerModel}`,
        );
  }

  /** A creation fails for want of a provider only after it has asked each route, and has waited where it could. */
  function noRouteWouldHaveServed({ before, after }: Change): void {
    if (textOf(after, 'failure') !== 'ServiceUnavailable' || textOf(before, 'failure') !== '') return;
    // Others refund a creation whose execution could not be started.
    if (world.current()?.name !== 'RefundCharge') return;
    const routes = membersOf(after?.['routes']);
    if (!routes.every(({ provider }) => flappingProviders.includes(provider?.S ?? ''))) return;
    const id = textOf(after, 'id');
    const begun = new Set(membersOf(after?.['attempts']).map(nameOfMembers));
    const until = (millisOf(after, 'deadlineAt') ?? 0) - reserveMillis;
    const latestStart = until - leastAskMillis - slackMillis - world.clocks.largestSkew();
    for (const name of routes.map(nameOfMembers)) {
      if (!begun.has(name))
        accuse('no creation fails while a route of it was not asked', `${id} and ${name}`);
      const known = asksAt(id, name);
      const last = known.at(-1);
      const moment = (last && momentOf(last)) ?? Infinity;
      if (known.length < mostAsks && moment <= latestStart)
        accuse('a creation waits for a vendor that named a moment', `${id} and ${name}`);
    }
  }

  /** When a probe is due, exactly one creation makes the probe, and the next probe comes much later. */
  function isClaimedByOne({ pk, before, after }: Change): void {
    const [probeAt, openedAt] = [millisOf(after, 'probeAt'), millisOf(after, 'openedAt')];
    const isOpening = openedAt !== millisOf(before, 'openedAt');
    if (isOpening || probeAt === undefined || probeAt === millisOf(before, 'probeAt')) return;
    const name = `${pk} ${openedAt ?? 'closed'}`;
    const last = claims.get(name) ?? -Infinity;
    const now = world.time.now();
    claims.set(name, now);
    const apartMillis = now - last;
    if (apartMillis + world.clocks.largestSkew() < leastProbeMillis)
      accuse('one creation at a time probes a route', `${name}, ${apartMillis} ms apart`);
  }

  return {
    onRenders: (invocation, creation) => void rendered.set(invocation, creation),
    onAsked: (asked) => {
      const creation = rendered.get(asked.invocation);
      if (creation === undefined) return;
      isNotAskedTwice(creation, asked);
      isNotAskedInTheDark(creation, asked);
      asks.set(creation, [...(asks.get(creation) ?? []), { asked }]);
    },
    onProviderAnswer: (asked, answer) => {
      const known = asks.get(rendered.get(asked.invocation) ?? '') ?? [];
      const ask = known.find((one) => one.asked === asked);
      if (ask) ask.answer = { is: answer, at: world.time.now() };
    },
    onCommit: (changes) => {
      for (const change of changes) {
        if (change.sk === 'CREATION') noRouteWouldHaveServed(change);
        if (change.sk === 'HEALTH') isClaimedByOne(change);
      }
    },
  };
}

/** The time of a request, with slow source images and a slow network. */
const mostMillis = 45_000;

interface Revision {
  readonly name: string | undefined;
  readonly catalog: Catalog;
  /** When the next revision replaced this one. */
  replacedAt?: number;
}

export function createCatalogInvariants(world: World, accuse: Accuse) {
  const revisions: Revision[] = [{ name: undefined, catalog: ours }];

  function stored({ after }: Change): void {
    if (!after) {
      accuse('the catalog of the operator stays', 'its item was deleted');
      return;
    }
    const revision = textOf(after, 'revision');
    const models = JSON.parse(textOf(after, 'models')) as OperatorCatalog['models'];
    const last = revisions.at(-1);
    if (last) last.replacedAt = world.time.now();
    revisions.push({ name: revision, catalog: mergeCatalog(ours, { revision, models }) });
  }

  function charged(item: Item): void {
    const [id, name] = [textOf(item, 'id'), item['catalogRevision']?.S];
    const revision = revisions.find((one) => one.name === name);
    if (!revision) {
      accuse('a creation is sold by a revision that was stored', `${id}: ${name ?? 'none'}`);
      return;
    }
    const model = revision.catalog.models.find((one) => one.id === textOf(item, 'model'));
    const price = model?.pricing.find(({ resolution }) => resolution === textOf(item, 'resolution'));
    const sources = item['sources']?.L?.length ?? 0;
    const usd = (price?.usd ?? NaN) + sources * (price?.usd_per_input_image ?? NaN);
    const cost = Number(item['costMicros']?.N);
    if (Math.round(usd * 1_000_000) !== cost)
      accuse(
        'a creation is charged at the price of its revision',
        `${id} costs ${cost}, by the revision ${usd}`,
      );
    const lateMillis = world.time.now() - (revision.replacedAt ?? Infinity);
    if (lateMillis > mostMillis)
      accuse('nothing is sold by a revision of long ago', `${id} was sold ${lateMillis} ms later`);
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const change of changes) {
        if (change.pk === 'OPERATOR_CATALOG') stored(change);
        else if (change.sk === 'CREATION' && !change.before && change.after) charged(change.after);
      }
    },
  };
}

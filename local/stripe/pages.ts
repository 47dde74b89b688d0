/** Lists in pages, and ids that a request wants replaced by their objects. */
import type { StripeAccount } from './account.ts';
import type { StripeObject } from './objects.ts';
import { invalid, missing } from './refusals.ts';

interface Listed {
  readonly id: string;
  readonly created: number;
}

interface Range {
  readonly gt?: number | undefined;
  readonly gte?: number | undefined;
  readonly lt?: number | undefined;
  readonly lte?: number | undefined;
}

interface Page {
  readonly limit?: number | undefined;
  readonly starting_after?: string | undefined;
  readonly ending_before?: string | undefined;
  readonly created?: Range | undefined;
}

const defaultLimit = 10;

/** @param all the newest first @param given the page, and members that have to be equal */
export function paged(
  { account, lagSeconds }: { readonly account: StripeAccount; readonly lagSeconds: number },
  all: readonly Listed[],
  {
    limit = defaultLimit,
    starting_after: after,
    ending_before: before,
    created,
    ...equal
  }: Page & Record<string, unknown>,
  url: string,
): unknown {
  const youngest = account.seconds() - lagSeconds;
  const matching = all.filter(
    (one) =>
      (lagSeconds === 0 || one.created <= youngest) &&
      isWithin(one.created, created) &&
      Object.entries(equal).every(
        ([name, value]) =>
          value === undefined ||
          name === 'expand' ||
          (one as unknown as Record<string, unknown>)[name] === value,
      ),
  );
  const place = (id: string, param: string): number => {
    const index = matching.findIndex((one) => one.id === id);
    if (index === -1) throw missing('object', id, param);
    return index;
  };
  const start = after === undefined ? 0 : place(after, 'starting_after') + 1;
  const end = before === undefined ? matching.length : place(before, 'ending_before');
  const from = before === undefined ? start : Math.max(0, end - limit);
  const data = matching.slice(from, Math.min(end, from + limit));
  const hasMore = before === undefined ? from + limit < matching.length : from > 0;
  return { object: 'list', data, has_more: hasMore, url };
}

function isWithin(
  created: number,
  { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity }: Range = {},
): boolean {
  return created > gt && created >= gte && created < lt && created <= lte;
}

/** A copy of the object, or of the list, with objects instead of the ids that `paths` name. */
export function expanded(account: StripeAccount, value: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(value) as Record<string, unknown>;
  for (const path of paths) expandOne(account, copy, path.split('.'), path);
  return copy;
}

function expandOne(
  account: StripeAccount,
  at: Record<string, unknown>,
  [step = '', ...rest]: string[],
  path: string,
): void {
  const value = at[step];
  if (step === 'data' && Array.isArray(value)) {
    for (const one of value as Record<string, unknown>[]) expandOne(account, one, rest, path);
    return;
  }
  if (value === undefined) throw invalid(`This property cannot be expanded (${path}).`, { param: 'expand' });
  const found: StripeObject | undefined =
    typeof value === 'string' ? account.state.objects[value]?.object : undefined;
  if (found) at[step] = structuredClone(found);
  const next = at[step];
  if (rest.length > 0 && typeof next === 'object' && next !== null)
    expandOne(account, next as Record<string, unknown>, rest, path);
}

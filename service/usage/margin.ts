/**
 * What the operator earns: revenue, provider costs and margin by account, model, provider or day. A client
 * never sees these figures.
 *
 * Everything counts on the day of the charge, as in usage.ts: the revenue, what was given back of it, and the
 * cost of the creation. The cost is the price that the renderer noted in the attempt, so a later
 * price of the provider changes no day that is over.
 */
import type { MarginFigure } from '../contract/portal-views.ts';
import { isTerminal, type RouteAttempt } from '../creations/creation.ts';
import { asMicros } from '../values/money.ts';
import {
  type BookedCreation,
  type BookedRow,
  type Cells,
  dayOfRow,
  type GroupedSums,
  groupSums,
  refundedOf,
} from './booked-row.ts';

export const marginDimensions = ['account', 'model', 'provider', 'day'] as const;
export type MarginDimension = (typeof marginDimensions)[number];

export interface Margin {
  readonly creations: number;
  readonly failed: number;
  readonly revenueMicros: number;
  /** Of the creations whose cost is known. */
  readonly costMicros: number;
  /** Creations whose cost is not known. The margin leaves them out. */
  readonly costUnknown: number;
  /** The part of the revenue that such creations have. */
  readonly revenueCostUnknownMicros: number;
  /** Creations with an attempt that gave no image and that the provider may have billed. */
  readonly unclear: number;
  /** What these attempts cost if they were billed, as far as it was noted. */
  readonly unclearCostMicros: number;
  readonly billed: number;
  /** The sum of these bills, where the cost by the catalog is known, too. */
  readonly billedMicros: number;
  readonly billedCatalogMicros: number;
}

const noMargin: Margin = {
  creations: 0,
  failed: 0,
  revenueMicros: 0,
  costMicros: 0,
  costUnknown: 0,
  revenueCostUnknownMicros: 0,
  unclear: 0,
  unclearCostMicros: 0,
  billed: 0,
  billedMicros: 0,
  billedCatalogMicros: 0,
};

export interface MarginSums extends Pick<GroupedSums<Margin>, 'groups' | 'total'> {
  /** Rows of the ledger that are no charge and no refund do not count. */
  add(accountId: string, booked: BookedRow): void;
}

export function sumMargin(by: MarginDimension): MarginSums {
  const sums = groupSums(noMargin);
  return {
    add: (accountId, booked) => {
      const part = marginOf(booked);
      if (part) sums.add(groupOf[by](booked, accountId), part);
    },
    groups: () => sums.groups(),
    total: () => sums.total(),
  };
}

const groupOf: Readonly<Record<MarginDimension, (booked: BookedRow, accountId: string) => string | null>> = {
  account: (_booked, accountId) => accountId,
  model: ({ creation }) => creation?.model ?? null,
  provider: ({ creation }) => providerOf(creation),
  day: ({ row }) => dayOfRow(row),
};

/** The provider that rendered, or that was tried last. Null: none was tried. */
function providerOf(creation: BookedCreation | undefined): string | null {
  const attempts = creation?.attempts ?? [];
  return (attempts.find(isRendered) ?? attempts.at(-1))?.provider ?? null;
}

function marginOf(booked: BookedRow): Margin | undefined {
  const { row, creation } = booked;
  const revenueMicros = (row.kind === 'charge' ? 0 - row.amountMicros : 0) - refundedOf(booked);
  const costMicros = costMicrosOf(creation);
  const revenue = {
    revenueMicros,
    ...(costMicros === undefined && { revenueCostUnknownMicros: revenueMicros }),
  };
  switch (row.kind) {
    case 'charge': {
      const unclear = unclearAttempts(creation);
      return {
        ...noMargin,
        ...revenue,
        creations: 1,
        failed: creation?.status === 'failed' ? 1 : 0,
        costMicros: costMicros ?? 0,
        costUnknown: costMicros === undefined ? 1 : 0,
        unclear: unclear.length > 0 ? 1 : 0,
        unclearCostMicros: unclear.reduce((sum, attempt) => sum + (attempt.providerCostMicros ?? 0), 0),
        ...billedOf(creation),
      };
    }
    case 'refund':
      // The row of the charge has counted it.
      return creation ? undefined : { ...noMargin, ...revenue };
    case 'top_up':
    case 'adjustment':
    case 'credit_line':
    case 'payment':
    case 'payment_reversed':
      return undefined;
  }
}

/** What providers billed for a creation's images. Undefined when the bill was not recorded. */
function costMicrosOf(creation: BookedCreation | undefined): number | undefined {
  if (!creation || !isTerminal(creation.status)) return undefined;
  const rendered = creation.attempts.filter(isRendered);
  if (creation.status === 'completed' && rendered.length === 0) return undefined;
  let sum = 0;
  for (const { providerCostMicros } of rendered) {
    if (providerCostMicros === undefined) return undefined;
    sum += providerCostMicros;
  }
  return sum;
}

/** The attempts of unknown end, which may be billed. Other failures count as not billed. */
function unclearAttempts(creation: BookedCreation | undefined): readonly RouteAttempt[] {
  if (!creation || !isTerminal(creation.status)) return [];
  return creation.attempts.filter(
    ({ outcome }) => outcome === undefined || outcome === 'unknown_outcome' || outcome === 'no_answer',
  );
}

/** The bills of the images that were rendered. One without a cost by the catalog is compared with nothing. */
function billedOf(
  creation: BookedCreation | undefined,
): Pick<Margin, 'billed' | 'billedMicros' | 'billedCatalogMicros'> {
  const billed = (creation?.attempts ?? []).filter(isRendered).filter(isBilled);
  const compared = billed.filter(isCosted);
  return {
    billed: billed.length > 0 ? 1 : 0,
    billedMicros: compared.reduce((sum, { billedMicros }) => sum + billedMicros, 0),
    billedCatalogMicros: compared.reduce((sum, { providerCostMicros }) => sum + providerCostMicros, 0),
  };
}

function isBilled<Attempt extends RouteAttempt>(
  attempt: Attempt,
): attempt is Attempt & Required<Pick<RouteAttempt, 'billedMicros'>> {
  return attempt.billedMicros !== undefined;
}

function isCosted<Attempt extends RouteAttempt>(
  attempt: Attempt,
): attempt is Attempt & Required<Pick<RouteAttempt, 'providerCostMicros'>> {
  return attempt.providerCostMicros !== undefined;
}

/** A picture that does not honour the request is billed as well. */
function isRendered({ outcome }: RouteAttempt): boolean {
  return outcome === 'rendered' || outcome === 'not_honoured';
}

export function marginCells(sums: Margin): Readonly<Record<MarginFigure, Cells[string]>> {
  const known = sums.revenueMicros - sums.revenueCostUnknownMicros;
  const margin = known - sums.costMicros;
  return {
    creations: sums.creations,
    failed: sums.failed,
    revenue: { usd: asMicros(sums.revenueMicros) },
    provider_cost: { usd: asMicros(sums.costMicros) },
    margin: { usd: asMicros(margin) },
    margin_percent: known > 0 ? Math.round((10_000 * margin) / known) / 100 : null,
    cost_unknown: sums.costUnknown,
    revenue_cost_unknown: { usd: asMicros(sums.revenueCostUnknownMicros) },
    unclear: sums.unclear,
    unclear_cost: { usd: asMicros(sums.unclearCostMicros) },
    billed: sums.billed,
    billed_cost: { usd: asMicros(sums.billedMicros) },
    billed_catalog_cost: { usd: asMicros(sums.billedCatalogMicros) },
    billed_difference: { usd: asMicros(sums.billedMicros - sums.billedCatalogMicros) },
    billed_difference_percent: differencePercent(sums),
  };
}

/** How much more the providers billed than the catalog says. Null: there is nothing to compare. */
function differencePercent({
  billedMicros,
  billedCatalogMicros,
}: Pick<Margin, 'billedMicros' | 'billedCatalogMicros'>): number | null {
  if (billedCatalogMicros === 0) return null;
  return Math.round((10_000 * (billedMicros - billedCatalogMicros)) / billedCatalogMicros) / 100;
}

// Routes whose vendor bills another amount than service/catalog/provider-costs.json says.

/** More than this apart, the file is wrong or the requests are unlike those that it was written for. */
const mostPercent = 5;

export interface BillFinding {
  readonly provider: string;
  readonly providerModel: string;
  readonly quality: string | null;
  readonly images: number;
  readonly billedMicros: number;
  readonly billedCatalogMicros: number;
  /** Null: the file says that the images are free. */
  readonly percent: number | null;
}

type Sums = Pick<BillFinding, 'images' | 'billedMicros' | 'billedCatalogMicros'>;

export function sumBills() {
  const sums = groupSums<Sums>({ images: 0, billedMicros: 0, billedCatalogMicros: 0 });
  return {
    /** A creation counts with the row of its charge. */
    add: ({ row, creation }: BookedRow) => {
      if (row.kind !== 'charge') return;
      const attempts = (creation?.attempts ?? []).filter(isRendered).filter(isBilled).filter(isCosted);
      for (const { provider, providerModel, quality, billedMicros, providerCostMicros } of attempts) {
        const route = JSON.stringify([provider, providerModel, quality ?? null]);
        sums.add(route, { images: 1, billedMicros, billedCatalogMicros: providerCostMicros });
      }
    },
    /** The routes that are more than 5 % apart, by their names. */
    findings: (): BillFinding[] =>
      sums.groups().flatMap(({ group, sums: own }) => {
        const percent = differencePercent(own);
        const isApart = percent === null ? own.billedMicros > 0 : Math.abs(percent) > mostPercent;
        if (!isApart) return [];
        const [provider, providerModel, quality] = JSON.parse(group ?? '[]') as [
          string,
          string,
          string | null,
        ];
        return [{ provider, providerModel, quality, ...own, percent }];
      }),
  };
}

/** Routes whose vendor bills another amount than catalog/provider-costs.json says. */
import { groupSums, type BookedRow } from './booked-row.ts';
import { differencePercent, isBilled, isCosted, isRendered } from './margin.ts';

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

export interface BillSums {
  /** A creation counts with the row of its charge. */
  add(booked: BookedRow): void;
  /** The routes that are more than 5 % apart, by their names. */
  findings(): BillFinding[];
}

export function sumBills(): BillSums {
  const sums = groupSums<Sums>({ images: 0, billedMicros: 0, billedCatalogMicros: 0 });
  return {
    add: ({ row, creation }) => {
      if (row.kind !== 'charge') return;
      const attempts = (creation?.attempts ?? []).filter(isRendered).filter(isBilled).filter(isCosted);
      for (const { provider, providerModel, quality, billedMicros, providerCostMicros } of attempts) {
        const route = JSON.stringify([provider, providerModel, quality ?? null]);
        sums.add(route, { images: 1, billedMicros, billedCatalogMicros: providerCostMicros });
      }
    },
    findings: () =>
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

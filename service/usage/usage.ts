/**
 * What a client used: creations and money by day, key, model or user.
 *
 * Everything counts on the day of the charge: the money, its refund, and the creation. So a
 * creation that failed after midnight spent nothing on any day.
 */
import { asMicros } from '../values/money.ts';
import {
  type BookedRow,
  type Cells,
  dayOfRow,
  type GroupedSums,
  groupSums,
  refundedOf,
} from './booked-row.ts';

export const usageDimensions = ['day', 'key', 'model', 'user'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

export interface Usage {
  readonly creations: number;
  /** Neither completed nor failed: the creation is open. */
  readonly completed: number;
  readonly failed: number;
  readonly chargedMicros: number;
  readonly refundedMicros: number;
}

const noUsage: Usage = { creations: 0, completed: 0, failed: 0, chargedMicros: 0, refundedMicros: 0 };

export interface UsageSums extends Pick<GroupedSums<Usage>, 'groups' | 'total'> {
  /** Rows of the ledger that are no charge and no refund do not count. */
  add(booked: BookedRow): void;
}

export function sumUsage(by: UsageDimension): UsageSums {
  const sums = groupSums(noUsage);
  return {
    add: (booked) => {
      const part = usageOf(booked);
      if (part) sums.add(groupOf[by](booked), part);
    },
    groups: () => sums.groups(),
    total: () => sums.total(),
  };
}

const groupOf: Readonly<Record<UsageDimension, (booked: BookedRow) => string | null>> = {
  day: ({ row }) => dayOfRow(row),
  key: ({ row }) => row.keyId ?? null,
  model: ({ creation }) => creation?.model ?? null,
  user: ({ row }) => row.user ?? null,
};

function usageOf(booked: BookedRow): Usage | undefined {
  const { row, creation } = booked;
  const refundedMicros = refundedOf(booked);
  switch (row.kind) {
    case 'charge':
      return {
        ...noUsage,
        creations: 1,
        completed: creation?.status === 'completed' ? 1 : 0,
        failed: creation?.status === 'failed' ? 1 : 0,
        chargedMicros: 0 - row.amountMicros,
        refundedMicros,
      };
    case 'refund':
      // The row of the charge has counted it.
      return creation ? undefined : { ...noUsage, refundedMicros };
    case 'top_up':
    case 'adjustment':
    case 'credit_line':
    case 'payment':
    case 'payment_reversed':
      return undefined;
  }
}

export function usageCells({ creations, completed, failed, chargedMicros, refundedMicros }: Usage): Cells {
  return {
    creations,
    completed,
    failed,
    charged: { usd: asMicros(chargedMicros) },
    refunded: { usd: asMicros(refundedMicros) },
    spent: { usd: asMicros(chargedMicros - refundedMicros) },
  };
}

/** The planted bugs of what the API reads: creations, balance, catalog. */
import type { Mutant } from './plant.ts';

export const api: readonly Mutant[] = [
  {
    name: 'everybody-reads-everything',
    file: 'service/api/creations.ts',
    find: 'creation?.accountId !== account.id',
    replace: '!creation',
  },
  {
    name: 'balance-tells-the-credit-line',
    file: 'service/api/get-balance.ts',
    find: 'available: toUsd(account.availableMicros)',
    replace: 'available: toUsd(account.creditLineMicros)',
  },
  {
    name: 'catalog-of-an-old-revision',
    file: 'service/catalog/sold-catalog.ts',
    find: 'if (memory.kept?.revision === revision) return memory.kept;',
    replace: 'if (memory.kept) return memory.kept;',
  },
];

/** The planted bugs of the calls to AWS and to the hosts of clients. */
import type { Mutant } from './plant.ts';

export const aws: readonly Mutant[] = [
  {
    name: 'unprocessed-is-absent',
    file: 'service/aws/dynamodb/batch-get.ts',
    find: 'if (open.length === 0) return items;',
    replace: 'if (open.length >= 0) return items;',
  },
  {
    name: 'switch-of-protocols-unheard',
    file: 'service/outbound/pinned-exchange.ts',
    find: "request.on('upgrade', ({ headers }, socket) => {\n      hasAnswer = true;",
    replace:
      "request.on('upgrade', ({ headers }, socket) => {\n      if (socket) return;\n      hasAnswer = true;",
  },
  {
    name: 'conflict-of-a-single-write',
    file: 'service/aws/dynamodb/send.ts',
    find: 'if (!isShed(error)) throw error;',
    replace: "if (!isShed(error) || (error as Error).name === 'TransactionConflictException') throw error;",
  },
];

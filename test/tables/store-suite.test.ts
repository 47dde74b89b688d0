import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { accountFacts } from './account-facts.ts';
import { bookedFacts } from './booked-facts.ts';
import { booksFacts } from './books-facts.ts';
import { capFacts } from './cap-facts.ts';
import { chargeFacts } from './charge-facts.ts';
import { findDynamoDbLocal } from './dynamodb-local.ts';
import { endingFacts } from './ending-facts.ts';
import { type Engine, startAmazon, startMemory, startStandIn } from './engines.ts';
import { eventFacts } from './event-facts.ts';
import { type Facts, openStores } from './facts.ts';
import { heldFacts } from './held-facts.ts';
import { noticeFacts } from './notice-facts.ts';
import { peopleFacts } from './people-facts.ts';
import { refusalFacts } from './refusal-facts.ts';
import { retryFacts } from './retry-facts.ts';
import { severalFacts } from './several-facts.ts';
import { uploadFacts } from './upload-facts.ts';
import { workFacts } from './work-facts.ts';

const facts: Facts = {
  ...chargeFacts,
  ...capFacts,
  ...severalFacts,
  ...retryFacts,
  ...endingFacts,
  ...workFacts,
  ...accountFacts,
  ...booksFacts,
  ...bookedFacts,
  ...peopleFacts,
  ...refusalFacts,
  ...uploadFacts,
  ...noticeFacts,
  ...eventFacts,
  ...heldFacts,
};

/** Collects the reads of the table that are not consistent. An index cannot be read consistently. */
function staleReads({ client }: Table): string[] {
  const stale: string[] = [];
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const input = args.input as {
        readonly IndexName?: string;
        readonly ConsistentRead?: boolean;
        readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean }>>;
      };
      const operation = String(context.commandName).replace('Command', '');
      const reads = operation.startsWith('BatchGet') ? Object.values(input.RequestItems ?? {}) : [input];
      if (
        /^(Get|BatchGet|Query|Scan)/.test(operation) &&
        input.IndexName === undefined &&
        reads.some(({ ConsistentRead }) => ConsistentRead !== true)
      )
        stale.push(operation);
      return next(args);
    },
    { step: 'initialize', name: 'staleReads', override: true },
  );
  return stale;
}

/**
 * Tests every fact about the stores, each on an empty table of this engine. `missing` says why the engine is
 * absent.
 */
function describeStores(name: string, start: () => Promise<Engine>, missing?: string): void {
  describe.skipIf(missing !== undefined)(
    `the stores on ${name}${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    () => {
      let engine: Engine;
      beforeAll(async () => {
        engine = await start();
      });
      afterAll(() => engine.end());
      it.each(Object.entries(facts))('%s', async (_fact, holds) => {
        const table = await engine.open();
        const stale = staleReads(table);
        await holds(await openStores(table));
        expect(stale, 'reads outside an index that are not consistent').toEqual([]);
      });
    },
  );
}

/** The same facts on three engines. Because the engines agree, a test on one of them proves something. */
describeStores('the stand-in', startStandIn);
describeStores('the simulation’s table', startMemory);

const found = findDynamoDbLocal();
// Printed, because a reader could take a skipped fact for a proven one.
if ('missing' in found) process.stderr.write(`Amazon DynamoDB Local is left out: ${found.missing}\n`);
describeStores('Amazon DynamoDB Local', startAmazon, 'missing' in found ? found.missing : undefined);

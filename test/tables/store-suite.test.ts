import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { timeOfUuidV7 } from '../../service/values/ids.ts';
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

interface BatchRead {
  readonly ConsistentRead?: boolean;
  readonly Keys: readonly { readonly pk: string }[];
}

const hourMillis = 3_600_000;

/**
 * Collects the reads of the table that are not consistent. An index cannot be read consistently, and the audit reads
 * what is an hour old without.
 */
function staleReads({ client, clock }: Table): string[] {
  const stale: string[] = [];
  const isSettled = (millis: number | undefined): boolean => (millis ?? NaN) <= clock.now() - hourMillis;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const input = args.input as {
        readonly IndexName?: string;
        readonly ConsistentRead?: boolean;
        readonly ProjectionExpression?: string;
        readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
        readonly RequestItems?: Readonly<Record<string, BatchRead>>;
      };
      const operation = String(context.commandName).replace('Command', '');
      const batches = Object.values(input.RequestItems ?? {});
      const reads = operation.startsWith('BatchGet') ? batches : [input];
      const ofSettledRows =
        input.ProjectionExpression?.startsWith('sk, #r0') === true &&
        input.ExpressionAttributeValues?.[':to'] !== 'LEDGER$';
      const ofSettledCreations =
        batches.length > 0 &&
        batches.every(({ Keys }) =>
          Keys.every(({ pk }) => isSettled(timeOfUuidV7(pk.slice('CREATION#'.length)))),
        );
      if (
        /^(Get|BatchGet|Query|Scan)/.test(operation) &&
        input.IndexName === undefined &&
        !ofSettledRows &&
        !ofSettledCreations &&
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

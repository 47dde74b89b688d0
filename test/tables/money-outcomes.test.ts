/** What the stores of money answer when a transaction is busy, lost or refused. */
import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import type { Item, Table } from '../../service/aws/dynamodb/table.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import { creationFromItem, creationToItem } from '../../service/creations/creation-items.ts';
import { createCreationStore } from '../../service/creations/creation-store.ts';
import { type CreationRecord, creationView } from '../../service/creations/creation.ts';
import { imageRequestSchema, type Metadata, requestHash } from '../../service/creations/image-request.ts';
import { OutcomeUnknown, Overloaded } from '../../service/values/errors.ts';
import { asMicros } from '../../service/values/money.ts';
import { webhookBody } from '../../service/webhooks/webhook.ts';
import { fakeClock, stub } from '../api/fakes.ts';
import {
  accountId,
  aCompletedCreation,
  aCreation,
  addressOfTests,
  anAccount,
  anApiKey,
  now,
  seededBytes,
} from '../fixtures/records.ts';

const answered = (httpStatusCode: number | undefined, name = 'SomeError'): Error =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });

const cancelled = (...reasons: CancellationReason[]): Error =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: reasons,
  });

const busy = answered(400, 'ThrottlingException');

/** A table whose transactions all fail so, and whose reads find this item. */
function tableThat(failure: Error, found?: Item | Error): Table & { readonly sent: () => number } {
  let sent = 0;
  const client = stub<DynamoDBDocumentClient>({
    send: (command: object) => {
      sent += 1;
      if (command instanceof TransactWriteCommand) return Promise.reject(failure);
      return found instanceof Error ? Promise.reject(found) : Promise.resolve({ Item: found });
    },
  });
  return { client, name: 'table', clock: fakeClock(), randomBytes: seededBytes, sent: () => sent };
}

const ended = async (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

const topUp = (table: Table): Promise<unknown> =>
  ended(createWalletStore(table).topUp(accountId, asMicros(5), 'reference'));

describe('A movement of money', () => {
  it('A movement is overloaded when the table stayed busy and nothing was written', async () => {
    const error = await topUp(tableThat(busy));
    expect(error).toBeInstanceOf(Overloaded);
    expect(error).toMatchObject({ message: 'The table stayed busy: nothing was changed.' });
  });

  it('A movement whose ledger row exists was made, although no answer said so', async () => {
    expect(await topUp(tableThat(answered(500), { pk: 'row' }))).toEqual({ kind: 'applied' });
  });

  it('An account of our own was opened, although no answer said so, and another one says nothing', async () => {
    const account = anAccount();
    const open = (found: Item | undefined): Promise<unknown> =>
      ended(createWalletStore(tableThat(answered(500), found)).open(account));
    expect(await open({ createdAt: account.createdAt })).toBe('opened');
    expect(await open({ createdAt: '2020-01-01T00:00:00.000Z' })).toBeInstanceOf(OutcomeUnknown);
    expect(await open(undefined)).toBeInstanceOf(OutcomeUnknown);
  });

  it.each([[undefined], [399], [500], [503]])(
    'A movement that failed with status %s and left no ledger row has an unknown outcome',
    async (status) => {
      const failure = answered(status);
      const error = await topUp(tableThat(failure));
      expect(error).toBeInstanceOf(OutcomeUnknown);
      expect(error).toMatchObject({ message: 'No answer says whether the change was made.', cause: failure });
    },
  );

  it('A movement has an unknown outcome when its ledger row cannot be read either', async () => {
    expect(await topUp(tableThat(answered(500), answered(500)))).toBeInstanceOf(OutcomeUnknown);
  });

  it.each([400, 403, 499])(
    'A movement that is refused with status %i ends with that error',
    async (status) => {
      const failure = answered(status);
      expect(await topUp(tableThat(failure))).toBe(failure);
    },
  );

  it('A movement that is refused by its own ledger row was made by an earlier try', async () => {
    const refused = cancelled({}, { Code: 'ConditionalCheckFailed' }, { Code: 'ConditionalCheckFailed' });
    expect(await topUp(tableThat(refused))).toEqual({ kind: 'applied' });
  });

  it('A movement that is refused by the account is out of range', async () => {
    expect(await topUp(tableThat(cancelled({ Code: 'ConditionalCheckFailed' }, {}, {})))).toEqual({
      kind: 'out_of_range',
    });
  });
});

describe('A new credit line', () => {
  const setCreditLine = (stored: string | undefined): Promise<unknown> =>
    createWalletStore(
      tableThat(
        cancelled({
          Code: 'ConditionalCheckFailed',
          ...(stored !== undefined && { Item: { creditLineMicros: { N: stored } } }),
        }),
      ),
    ).setCreditLine(accountId, asMicros(3), asMicros(5));

  it.each([
    ['3', 'out_of_range'],
    ['4', 'changed_meanwhile'],
    [undefined, 'changed_meanwhile'],
  ])('A new credit line that is refused when the stored one is %s is %s', async (stored, outcome) => {
    expect(await setCreditLine(stored)).toBe(outcome);
  });
});

describe('A charge', () => {
  const order = { creations: [aCreation()] as const, maxConcurrent: 10, nowMillis: now };
  const charge = (table: Table, cap?: number): Promise<unknown> =>
    ended(
      createChargeStore(table).charge({
        ...order,
        apiKey: anApiKey(cap === undefined ? {} : { monthlyCapMicros: asMicros(cap) }),
      }),
    );

  it('A charge is overloaded when the table stayed busy', async () => {
    expect(await charge(tableThat(busy))).toEqual({ kind: 'overloaded' });
  });

  it('A charge above the whole cap is refused before anything is sent, and a charge of the whole cap is sent', async () => {
    const table = tableThat(busy);
    expect(await charge(table, 39_999)).toMatchObject({
      kind: 'over_budget',
      budget: { period: 'monthly', capMicros: 39_999, spentMicros: 0 },
    });
    expect(table.sent()).toBe(0);
    expect(await charge(table, 40_000)).toEqual({ kind: 'overloaded' });
  });

  it('A charge that is refused by its creation alone throws, because no answer of the API fits', async () => {
    expect(await charge(tableThat(cancelled({}, {}, { Code: 'ConditionalCheckFailed' }, {})))).toMatchObject({
      message: 'the charge was refused by a condition that no refusal stands for',
    });
  });
});

describe('The end of a creation', () => {
  it('A refund and a completion are busy when the table stayed busy', async () => {
    const refund = { failure: 'GenerationFailed', nowMillis: now, announce: true } as const;
    const done = { results: [], resultsExpireAt: now, attempts: [], nowMillis: now };
    expect([
      await createChargeStore(tableThat(busy)).refund(aCreation(), refund),
      await createCreationStore(tableThat(busy)).complete(aCreation(), done),
    ]).toEqual(['busy', 'busy']);
  });
});

type Entries = readonly (readonly [string, string])[];

/** JSON text, as a client writes it. An object literal would lose __proto__. */
const jsonOf = (entries: Entries): string =>
  `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

const bodyOf = (entries: Entries): unknown =>
  JSON.parse(`{"model":"m","prompt":"p","metadata":${jsonOf(entries)}}`);

function metadataOf(entries: Entries): Metadata {
  const { metadata } = imageRequestSchema.parse(bodyOf(entries));
  if (metadata === undefined) throw new Error('metadata is lost');
  return metadata;
}

/** Writes and reads a creation with the marshalling options of the service's own client. */
function stored(creation: CreationRecord): CreationRecord {
  return creationFromItem(unmarshall(marshall(creationToItem(creation), { removeUndefinedValues: true })));
}

const ofEveryObject = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'toJSON',
  'then',
  'name',
  'length',
];

const ofTheMarshaller = [
  'S',
  'N',
  'B',
  'M',
  'L',
  'NULL',
  'BOOL',
  'SS',
  'pk',
  'sk',
  '$metadata',
  'wrapNumbers',
];

const name = fc.oneof(
  fc.constantFrom(
    ...ofEveryObject,
    ...ofTheMarshaller,
    '0',
    '-1',
    '01',
    ' ',
    '\0',
    '\u2028',
    '🪶',
    '.',
    '[0]',
    '#status',
    ':value',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
);

const value = fc.oneof(
  fc.constantFrom('', '\0', '"', '\\', '\u2028', '{}', 'null', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 100 }),
);

const entries = fc.uniqueArray(fc.tuple(name, value), { maxLength: 16, selector: ([key]) => key });

/** Metadata on its way from the bytes of a request, through the SDK's marshaller, back to the client. */
describe('Metadata', () => {
  it('Metadata comes back as it was sent, whatever its names and values are', () => {
    fc.assert(
      fc.property(entries, (sent) => {
        const creation = stored(aCompletedCreation({ metadata: metadataOf(sent) }));
        const shown = JSON.parse(JSON.stringify(creationView(creation, addressOfTests, now))) as {
          metadata: object;
        };
        const announced = JSON.parse(webhookBody(creation, [])) as { metadata: object };
        const expected = Object.entries(JSON.parse(jsonOf(sent)) as object);
        expect(Object.entries(shown.metadata)).toEqual(expected);
        expect(Object.entries(announced.metadata)).toEqual(expected);
        expect(expected).toHaveLength(sent.length);
      }),
      { numRuns: 2_000, seed: 20261122 },
    );
  });

  it('Another name or value makes another request, and another order makes the same request', () => {
    const hash = (sent: Entries): string => requestHash(imageRequestSchema.parse(bodyOf(sent)));
    fc.assert(
      fc.property(entries, name, value, (sent, newName, newValue) => {
        const others = sent.filter(([key]) => key !== newName);
        const more: Entries = [...others, [newName, newValue]];
        expect(hash(others.toReversed())).toBe(hash(others));
        expect(hash(more)).not.toBe(hash(others));
        expect(hash([...others, [newName, `${newValue}x`]])).not.toBe(hash(more));
      }),
      { numRuns: 500, seed: 20261122 },
    );
  });

  it.each(ofEveryObject)('Metadata that has only the name %s is kept', (only) => {
    const { metadata } = stored(aCreation({ metadata: metadataOf([[only, 'v']]) }));
    expect(Object.entries(metadata)).toEqual([[only, 'v']]);
  });

  it('Metadata of an older record, which is a map, is read', () => {
    const old = { ...creationToItem(aCreation()), metadata: { order: '7' } };
    expect(creationFromItem(unmarshall(marshall(old, { removeUndefinedValues: true }))).metadata).toEqual({
      order: '7',
    });
  });
});

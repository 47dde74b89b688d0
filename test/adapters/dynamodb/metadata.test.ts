/** Metadata on its way from the bytes of a request, through the SDK's marshaller, back to the client. */
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creationFromItem, creationToItem } from '../../../adapters/dynamodb/mapping.ts';
import { creationView, type CreationRecord } from '../../../core/creation.ts';
import { imageRequestSchema, requestHash } from '../../../core/image-request.ts';
import type { Metadata } from '../../../core/metadata.ts';
import { webhookBody } from '../../../core/webhook.ts';
import { aCompletedCreation, aCreation, now } from '../../fixtures/records.ts';

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

describe('Metadata', () => {
  it('Metadata comes back as it was sent, whatever its names and values are', () => {
    fc.assert(
      fc.property(entries, (sent) => {
        const creation = stored(aCompletedCreation({ metadata: metadataOf(sent) }));
        const shown = JSON.parse(JSON.stringify(creationView(creation, 'https://results.test', now))) as {
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

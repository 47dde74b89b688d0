import { beforeEach, describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../core/creation.ts';
import type { CreationId } from '../../core/ids.ts';
import type { CreationPage, CreationQuery, CreationStore } from '../../core/ports/creations.ts';
import type { Caller } from '../../functions/http/caller.ts';
import { listCreations } from '../../functions/operations/list-creations.ts';
import type { ApiRequest } from '../../functions/http/request.ts';
import type { ListServices } from '../../functions/services/api.ts';
import { aCreation, anAccount, anApiKey, now } from '../fixtures/records.ts';
import { stub } from './fakes.ts';
import { creationIdIn } from '../fixtures/values.ts';

const caller: Caller = {
  account: anAccount(),
  apiKey: anApiKey(),
  nowMillis: now,
  state: { rateCount: 0, openCreations: 0, enabledProviders: [] },
  place: stub({}),
};
const idOf = (number: number): CreationId =>
  creationIdIn(`019aa5a0-1000-7000-8000-${number.toString(16).padStart(12, '0')}`);

interface Answer {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

let asked: CreationQuery[] = [];
beforeEach(() => {
  asked = [];
});

/** The answer when the store returns this page. */
async function list(page: CreationPage, query: ApiRequest['query'] = {}): Promise<Answer> {
  const creations = stub<CreationStore>({
    page: (_account, wanted) => {
      asked.push(wanted);
      return Promise.resolve(page);
    },
  });
  const services = stub<ListServices>({ creations, resultsBaseUrl: 'https://results.test' });
  const { body } = await listCreations(stub<ApiRequest>({ query }), caller, services);
  return body as Answer;
}

const cursorOf = (id: string): string => Buffer.from(id).toString('base64url');

/** A creation as large as a request can make it in Lambda's answer, where each quote takes four bytes. */
const large = (number: number): CreationRecord =>
  aCreation({
    id: idOf(number),
    prompt: '"'.repeat(10_000),
    metadata: Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`${'"'.repeat(38)}${index + 10}`, '"'.repeat(500)]),
    ),
  });

describe('the answer of GET /creations', () => {
  it('The page has 20 creations unless the request asks for another limit', async () => {
    await list({ creations: [] });
    await list(
      { creations: [] },
      { limit: '100', cursor: cursorOf(idOf(7)), status: 'failed', model: 'sandbox-pro' },
    );
    expect(asked).toEqual([
      { limit: 20 },
      { limit: 100, before: idOf(7), status: 'failed', model: 'sandbox-pro' },
    ]);
  });

  it('A page ends below 5 MB as Lambda sends it, says has_more, and its cursor continues after the last creation shown', async () => {
    const creations = Array.from({ length: 100 }, (_, index) => large(100 - index));
    const answer = await list({ creations });
    const bytes = Buffer.byteLength(JSON.stringify({ body: JSON.stringify(answer) }));
    expect(bytes).toBeLessThanOrEqual(5_000_200);
    // The answer does not end much too early: one more creation would have been too many.
    expect(bytes + bytes / answer.data.length).toBeGreaterThan(5_000_000);
    expect(answer.data.map(({ id }) => id)).toEqual(
      creations.slice(0, answer.data.length).map(({ id }) => id),
    );
    expect([answer.has_more, answer.next_cursor]).toEqual([true, cursorOf(answer.data.at(-1)?.id ?? '')]);
  });

  it('The answer holds a whole page of ordinary creations and continues where the store says', async () => {
    const creations = Array.from({ length: 100 }, (_, index) => aCreation({ id: idOf(100 - index) }));
    expect(await list({ creations })).toMatchObject({
      has_more: false,
      next_cursor: null,
      data: { length: 100 },
    });
    expect(await list({ creations, next: idOf(1) })).toMatchObject({
      has_more: true,
      next_cursor: cursorOf(idOf(1)),
      data: { length: 100 },
    });
  });

  it('The answer may be empty and continue when the filter matched nothing that was read', async () => {
    expect(await list({ creations: [], next: idOf(3) })).toEqual({
      data: [],
      has_more: true,
      next_cursor: cursorOf(idOf(3)),
    });
  });
});

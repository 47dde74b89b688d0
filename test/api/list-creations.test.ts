import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../service/api/admit.ts';
import { listCreations } from '../../service/api/creations.ts';
import type { ListServices } from '../../service/api/open.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { CreationPage, CreationQuery } from '../../service/creations/creation-reads.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { accountId, aCreation, anAccount, anApiKey, creationId, now } from '../fixtures/records.ts';
import { creationIdIn } from '../fixtures/values.ts';
import { stub } from './fakes.ts';
import { accepting, post, type Stage } from './serve-fixture.ts';
import { resultsOfTests } from '../fixtures/records.ts';

const caller: Caller = {
  account: anAccount(),
  apiKey: anApiKey(),
  nowMillis: now,
  state: { rateCount: 0, openCreations: 0, enabledProviders: [] },
  rateSlot: stub({}),
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
  const services = stub<ListServices>({ creations, results: resultsOfTests });
  const { body } = await listCreations(stub<ApiRequest>({ query }), caller, services);
  return body as Answer;
}

const cursorOf = (id: string): string => Buffer.from(id).toString('base64url');

describe('the answer of GET /creations', () => {
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

const cursor = Buffer.from(creationId).toString('base64url');

const get = { method: 'GET', handle: listCreations } as const;

function listing(page: CreationPage = { creations: [] }): {
  readonly stage: Stage;
  readonly asked: unknown[];
} {
  const asked: unknown[] = [];
  const creations = stub<CreationStore>({
    page: async (...given) => {
      asked.push(given);
      return Promise.resolve(page);
    },
  });
  return { stage: accepting({ services: { creations } }), asked };
}

/** The query of GET /creations: what it asks of the store, and what is refused. */
describe('the query of GET /creations', () => {
  it.each<[Record<string, string>, object]>([
    [{}, { limit: 20 }],
    [{ limit: '1' }, { limit: 1 }],
    [{ limit: '100' }, { limit: 100 }],
    [{ limit: '007' }, { limit: 7 }],
    [{ cursor }, { limit: 20, before: creationId }],
    [{ status: 'queued' }, { limit: 20, status: 'queued' }],
    [{ status: 'processing' }, { limit: 20, status: 'processing' }],
    [{ status: 'completed' }, { limit: 20, status: 'completed' }],
    [{ status: 'failed' }, { limit: 20, status: 'failed' }],
    [{ model: 'any' }, { limit: 20, model: 'any' }],
    [
      { limit: '2', cursor, status: 'failed', model: 'any' },
      { limit: 2, before: creationId, status: 'failed', model: 'any' },
    ],
  ])('The query %j asks the store for %j', async (query, wanted) => {
    const { stage, asked } = listing();
    expect((await post(stage, undefined, { ...get, query })).status).toBe(200);
    expect(asked).toEqual([[accountId, wanted]]);
  });

  const limit = { field: 'limit', code: 'invalid_value', message: 'must be a whole number from 1 to 100' };
  const badCursor = {
    field: 'cursor',
    code: 'invalid_value',
    message: 'must be a next_cursor of an answer before',
  };
  const status = {
    field: 'status',
    code: 'invalid_value',
    message: 'must be one of "queued", "processing", "completed", "failed"',
  };
  const model = { field: 'model', code: 'invalid_value', message: 'must be the id of a model' };
  const unknown = {
    field: 'colour',
    code: 'unknown_parameter',
    message: 'not a query parameter of this request',
  };

  it.each<[Record<string, string>, object[]]>([
    ...['0', '101', '', '-1', '+1', '1.5', ' 1', '1x', 'x1', '1e1', '0x10'].map(
      (text): [Record<string, string>, object[]] => [{ limit: text }, [limit]],
    ),
    [{ cursor: '' }, [badCursor]],
    [{ cursor: 'nonsense' }, [badCursor]],
    [{ status: '' }, [status]],
    [{ status: 'open' }, [status]],
    [{ model: '' }, [model]],
    [{ colour: 'red' }, [unknown]],
    [
      { colour: 'red', model: '', status: 'open', cursor: 'x', limit: '0' },
      [unknown, limit, badCursor, status, model],
    ],
  ])('The query %j is refused, and the refusal names each wrong field', async (query, errors) => {
    const { stage, asked } = listing();
    const answer = await post(stage, undefined, { ...get, query });
    expect(answer.status).toBe(400);
    expect(answer.body).toHaveProperty('error.details', { errors });
    expect(asked).toEqual([]);
  });
});

describe('the size of an answer of GET /creations', () => {
  const first = creationId;
  const second = aCreation({ id: creationIdIn(creationId.replace(/a$/, '9')) });

  /** Bytes of a creation in Lambda's answer, where the body is a text in JSON. */
  const sizeOf = async (creation: typeof second): Promise<number> => {
    const { stage } = listing({ creations: [creation] });
    const { body } = await post(stage, undefined, get);
    const [view] = (body as { data: unknown[] }).data;
    return Buffer.byteLength(JSON.stringify(JSON.stringify(view)));
  };

  it.each([
    [5_000_000, 2, null],
    [5_000_001, 1, Buffer.from(first).toString('base64url')],
  ])('Two creations of %i bytes together give an answer with %i of them', async (bytes, count, next) => {
    const room = bytes - (await sizeOf(aCreation({ prompt: '' }))) - (await sizeOf(second));
    const large = aCreation({ id: first, prompt: 'x'.repeat(room) });
    const { stage } = listing({ creations: [large, second] });
    const { body } = await post(stage, undefined, get);
    expect(body).toMatchObject({ has_more: next !== null, next_cursor: next });
    expect(body).toHaveProperty('data.length', count);
  });

  it('An answer holds at least one creation, however large the creation is', async () => {
    const large = aCreation({ prompt: 'x'.repeat(5_000_001) });
    const { stage } = listing({ creations: [large] });
    expect((await post(stage, undefined, get)).body).toMatchObject({
      data: [{ id: first }],
      has_more: false,
      next_cursor: null,
    });
  });
});

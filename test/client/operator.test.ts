import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withMachinery } from '../../client/src/http/machinery.ts';
import { ApiError, DarkroomError, DarkroomOperator, ServiceUnavailable } from '../../client/src/operator.ts';
import * as main from '../../client/src/index.ts';
import { type Operation, operations } from '../../client/src/operator/operations.ts';
import source from '../../docs/operator-openapi.json' with { type: 'json' };
import { json, refusal, testKey, thrownBy } from './stub.ts';

interface Documented {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}
const paths = source.paths as object as Readonly<Record<string, Readonly<Record<string, Documented>>>>;

const apiKey = `dk_op_${'k'.repeat(40)}`;
const baseUrl = 'https://darkroom.test';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

interface Sent extends RequestInit {
  readonly url: string;
}

function operatorWith(replies: readonly Response[]): { operator: DarkroomOperator; sent: Sent[] } {
  const sent: Sent[] = [];
  const open = [...replies];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    sent.push({ ...init, url: url as string });
    return Promise.resolve(open.shift() ?? json({}));
  };
  const machinery = { sleep: () => Promise.resolve() };
  return { operator: new DarkroomOperator(withMachinery({ apiKey, baseUrl, fetch }, machinery)), sent };
}

const rows = Object.entries(operations).flatMap(([part, calls]) =>
  Object.entries<Operation>(calls).map(([name, row]) => ({ part, name, row })),
);

describe('the table of operations', () => {
  it('Every operation of the document has its method, and no method has another operation', () => {
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { parameters = [], requestBody, responses }]) => {
        const query = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
        const given = JSON.stringify((responses['201'] ?? responses['200'])?.content);
        const ofList = given.includes('List"') ? 'rows' : undefined;
        const shape = query.includes('cursor') ? 'pages' : query.length > 0 ? 'query' : ofList;
        return [method.toUpperCase(), path, requestBody ? 'body' : shape];
      }),
    );
    const known = rows.map(({ row: [method, path, shape] }) => [method, path, shape]);
    expect(known.toSorted()).toEqual(documented.toSorted());
  });

  it('The client has every method', () => {
    const { operator } = operatorWith([]);
    const parts = Object.entries(operator).filter(([, part]) => typeof part === 'object');
    const methods = parts.flatMap(([part, calls]) =>
      Object.keys(calls as object).map((name) => [part, name]),
    );
    expect(methods).toEqual(rows.map(({ part, name }) => [part, name]));
  });
});

describe('a call', () => {
  it('A POST keeps one Idempotency-Key over its retries, and another call has another', async () => {
    const busy = (): Response => refusal(503, 'ERR_PROVIDER_UNAVAILABLE', {}, { 'retry-after': '1' });
    const { operator, sent } = operatorWith([busy(), busy(), json({ id: 'p' }, 201), json({ id: 'q' }, 201)]);
    expect(await operator.payments.create('a/b', { amount: 1, reference: 'r' })).toEqual({ id: 'p' });
    await operator.payments.create('a', { amount: 1, reference: 's' });
    expect(sent.map(({ url }) => url.slice(baseUrl.length))).toEqual([
      ...Array<string>(3).fill('/api/operator/v1/accounts/a%2Fb/payments'),
      '/api/operator/v1/accounts/a/payments',
    ]);
    expect(sent[0]?.body).toBe('{"amount":1,"reference":"r"}');
    const keys = sent.map(({ headers }) => new Headers(headers).get('idempotency-key'));
    expect(new Set(keys.slice(0, 3))).toEqual(new Set([keys[2]]));
    expect(keys[2]).toMatch(/^[\da-f-]{36}$/);
    expect(keys[3]).not.toBe(keys[2]);
    expect(new Headers(sent[0]?.headers).get('authorization')).toBe(`Bearer ${apiKey}`);
  });

  it('A list reads its pages with the filter, and options come last', async () => {
    const page = (id: string, next: string | null): Response =>
      json({ data: [{ id }], has_more: next !== null, next_cursor: next });
    const { operator, sent } = operatorWith([page('a', 'two'), page('b', null)]);
    const found: string[] = [];
    for await (const { id } of operator.accounts.list({ condition: 'active' })) found.push(id);
    expect(found).toEqual(['a', 'b']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?condition=active',
      '?condition=active&cursor=two',
    ]);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(operator.keys.revoke('a', 'k', { signal })).rejects.toThrow('enough');
    await expect(operator.models.list({ signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(2);
  });

  it('A refusal is an error of the same classes as in the main entry', async () => {
    const conflict = { reason: 'reference_taken', kind: 'payment', amount: 2 };
    const { operator } = operatorWith([refusal(409, 'ERR_CONFLICT', conflict)]);
    const error = await thrownBy(operator.payments.create('a', { amount: 1, reference: 'r' }));
    expect(error).toBeInstanceOf(main.ApiError);
    expect(error).toMatchObject({ status: 409, code: 'ERR_CONFLICT', reason: 'reference_taken' });
    expect([ApiError, ServiceUnavailable]).toEqual([main.ApiError, main.ServiceUnavailable]);
  });

  it('An id that would lead to another path is refused before anything is sent', () => {
    const { operator, sent } = operatorWith([]);
    for (const id of ['', '.', '..']) {
      expect(() => operator.accounts.get(id)).toThrow(DarkroomError);
      expect(() => operator.keys.revoke('a', id)).toThrow('is no id: the call needs the id of the key.');
    }
    expect(sent).toEqual([]);
  });
});

describe('the options', () => {
  it('A key of an account and a token of a page are refused at once, without repeating them', () => {
    for (const key of [testKey, `dk_user_${'t'.repeat(40)}`]) {
      const make = (): unknown => new DarkroomOperator({ apiKey: key, baseUrl });
      expect(make).toThrow('The operator API takes keys that begin with dk_op_');
      expect(make).not.toThrow(key);
    }
    expect(() => new DarkroomOperator({ baseUrl })).toThrow('set DARKROOM_OPERATOR_KEY');
  });

  it('It does not start in a page', () => {
    vi.stubGlobal('window', { document: {} });
    expect(() => new DarkroomOperator({ apiKey, baseUrl })).toThrow('This is a page');
  });

  it('It reads the environment, takes the address of the client API, and never shows its key', () => {
    vi.stubEnv('DARKROOM_OPERATOR_KEY', apiKey);
    vi.stubEnv('DARKROOM_BASE_URL', `${baseUrl}/api/public/v1/`);
    const operator = new DarkroomOperator();
    expect(operator.baseUrl).toBe(`${baseUrl}/api/operator/v1`);
    const shown = [String(operator), inspect(operator), JSON.stringify(operator)];
    expect(shown.map((text) => text.includes(operator.baseUrl))).toEqual([true, true, true]);
    expect(shown.join('')).not.toContain('kkkk');
  });
});

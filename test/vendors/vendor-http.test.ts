/** HTTP as the adapters of the vendors use it: what is sent, how much is read, and what a breakage means. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CredentialsUnreadable } from '../../service/vendors/provider.ts';
import {
  answering,
  CallBroke,
  createVendorHttp,
  detailOf,
  type VendorHttp,
  type VendorResponse,
} from '../../service/vendors/vendor-http.ts';
import { download, refusedAtOnce, refusedCredentials } from '../../service/vendors/vendor-jobs.ts';

const never = new AbortController().signal;
afterEach(() => vi.unstubAllGlobals());

/** Every fetch ends so; the options of each are collected. */
function fetchThat(end: () => Response | Error): RequestInit[] {
  const asked: RequestInit[] = [];
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    asked.push(init);
    const ended = end();
    return ended instanceof Error ? Promise.reject(ended) : Promise.resolve(ended);
  });
  return asked;
}

const http = createVendorHttp({ baseUrl: 'https://vendor.test', hosts: [] });
const get = (): Promise<VendorResponse> => http.call({ method: 'GET', to: '/path', signal: never });
const broken = async (): Promise<unknown> => get().catch((error: unknown) => error);

/** A body of so many bytes, made of one piece of memory. */
function bodyOf(bytes: number): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(1024 * 1024);
  let left = bytes;
  return new ReadableStream({
    pull: (controller) => {
      if (left === 0) {
        controller.close();
        return;
      }
      const size = Math.min(left, piece.byteLength);
      left -= size;
      controller.enqueue(piece.subarray(0, size));
    },
  });
}

describe('A call of a vendor', () => {
  it('A call sends an object as JSON, a form as it is, and otherwise no body', async () => {
    const asked = fetchThat(() => new Response());
    const form = new FormData();
    await get();
    await http.call({
      method: 'POST',
      to: '/path',
      headers: { 'x-key': 'k' },
      body: { a: 1 },
      signal: never,
    });
    await http.call({ method: 'POST', to: '/path', body: form, signal: never });
    expect(asked).toEqual([
      { method: 'GET', redirect: 'manual', signal: never, headers: {} },
      {
        method: 'POST',
        redirect: 'manual',
        signal: never,
        headers: { 'content-type': 'application/json', 'x-key': 'k' },
        body: '{"a":1}',
      },
      { method: 'POST', redirect: 'manual', signal: never, headers: {}, body: form },
    ]);
  });

  it.each([
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/problem+json; charset=utf-8', '{"a":1}', { a: 1 }],
    ['application/json', 'no JSON', undefined],
    ['text/plain', '{"a":1}', undefined],
    ['application/jsonp', '{"a":1}', undefined],
  ])('An answer of the type %s with the body %s has the JSON %j', async (type, body, json) => {
    fetchThat(() => new Response(body, { headers: { 'content-type': type } }));
    expect((await get()).json).toEqual(json);
  });

  it('An answer without a type and a body has no JSON and no bytes', async () => {
    fetchThat(() => new Response(null, { status: 204 }));
    expect(await get()).toMatchObject({ status: 204, bytes: Buffer.alloc(0), json: undefined });
  });

  it('A call to an address that is not the vendor’s own throws', async () => {
    await expect(http.call({ method: 'GET', to: 'https://example.com/', signal: never })).rejects.toThrow(
      "an address that is not the vendor's own was to be called",
    );
  });

  it('A call whose signal has aborted throws the reason of the signal', async () => {
    const reason = new Error('over');
    fetchThat(() => new Error('aborted'));
    await expect(http.call({ method: 'GET', to: '/path', signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});

describe('An answer of a vendor', () => {
  it('An answer may have 96 MiB and no byte more', async () => {
    const most = 96 * 1024 * 1024;
    fetchThat(() => new Response(bodyOf(most)));
    expect((await get()).bytes.byteLength).toBe(most);
    fetchThat(() => new Response(bodyOf(most + 1)));
    expect(await broken()).toMatchObject({ name: 'CallBroke', code: 'TOO_LARGE', perhapsAccepted: true });
  });
});

describe('A call that breaks', () => {
  const withCode = (code: string): Error => Object.assign(new Error('inner'), { code });

  it.each([
    ['ECONNREFUSED', false],
    ['ENOTFOUND', false],
    ['EAI_AGAIN', false],
    ['EHOSTUNREACH', false],
    ['ENETUNREACH', false],
    ['UND_ERR_CONNECT_TIMEOUT', false],
    ['CERT_HAS_EXPIRED', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', false],
    ['SELF_SIGNED_CERT_IN_CHAIN', false],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', false],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', false],
    ['ECONNRESET', true],
    ['UND_ERR_SOCKET', true],
  ])('A call that breaks with the code %s was perhaps accepted: %j', async (code, perhapsAccepted) => {
    const error = new TypeError('fetch failed', { cause: withCode(code) });
    fetchThat(() => error);
    const broke = await broken();
    expect(broke).toBeInstanceOf(CallBroke);
    expect(broke).toMatchObject({
      name: 'CallBroke',
      message: `the call broke: ${code}`,
      code,
      perhapsAccepted,
      cause: error,
    });
  });

  it.each([
    [
      new TypeError('x', { cause: new AggregateError([withCode('ECONNREFUSED'), withCode('X')]) }),
      'ECONNREFUSED',
    ],
    [new TypeError('x', { cause: new AggregateError([]) }), 'UNKNOWN'],
    [new TypeError('x', { cause: new Error('no code') }), 'UNKNOWN'],
    [new TypeError('x', { cause: 'a text' }), 'UNKNOWN'],
    [new TypeError('x'), 'UNKNOWN'],
    [new TypeError('x', { cause: withCode('') }), 'UNKNOWN'],
  ])('A call that breaks with %o has the code %s', async (error, code) => {
    fetchThat(() => error);
    expect(await broken()).toMatchObject({ code });
  });
});

describe('A breakage as an answer', () => {
  it.each([
    [new CallBroke('ECONNRESET', true), { kind: 'refused', reason: 'unknown_outcome', detail: 'ECONNRESET' }],
    [new CallBroke('ENOTFOUND', false), { kind: 'refused', reason: 'unavailable', detail: 'ENOTFOUND' }],
    [
      new CredentialsUnreadable('no'),
      { kind: 'refused', reason: 'credentials', detail: 'the secret cannot be read' },
    ],
  ])('The error %o becomes the answer %j', async (error, answer) => {
    expect(await answering(() => Promise.reject(error))).toEqual(answer);
  });

  it('Every other error is thrown', async () => {
    const error = new Error('a defect');
    await expect(answering(() => Promise.reject(error))).rejects.toBe(error);
  });
});

describe('A vendor’s own address', () => {
  const vendor = createVendorHttp({ baseUrl: 'http://127.0.0.1:8080', hosts: ['vendor.test'] });

  it.each([
    ['http://127.0.0.1:8080/a', true],
    ['http://127.0.0.1:8081/a', false],
    ['https://127.0.0.1:8080/a', false],
    ['https://vendor.test/a', true],
    ['https://cdn.vendor.test/a', true],
    ['https://notvendor.test/a', false],
    ['http://vendor.test/a', false],
    ['https://vendor.test:8443/a', false],
    ['https://user@vendor.test/a', false],
    ['https://:secret@vendor.test/a', false],
    ['no address', false],
  ])('The address %s belongs to the vendor: %j', (url, isOwn) => {
    expect(vendor.isOwn(url)).toBe(isOwn);
  });
});

const answered = (status: number, bytes = 0): VendorResponse => ({
  status,
  headers: new Headers(),
  bytes: new Uint8Array(bytes),
  json: undefined,
});

describe('The detail of an answer', () => {
  it.each([
    ['rate_limit', 'HTTP 429 rate_limit'],
    ['A code: of a/b.c-d', 'HTTP 429 A code: of a/b.c-d'],
    ['x'.repeat(80), `HTTP 429 ${'x'.repeat(80)}`],
    ['x'.repeat(81), 'HTTP 429'],
    ['', 'HTTP 429'],
    ['a\nb', 'HTTP 429'],
    ['ends badly"', 'HTTP 429'],
    ['"begins badly', 'HTTP 429'],
    [7, 'HTTP 429'],
    [undefined, 'HTTP 429'],
  ])('The detail with the code %j is "%s"', (code, detail) => {
    expect(detailOf(answered(429), code)).toBe(detail);
  });
});

describe('A download', () => {
  const downloading = (response: VendorResponse, isOwn = true): Promise<unknown> => {
    const vendor: VendorHttp = { isOwn: () => isOwn, call: () => Promise.resolve(response) };
    return download(vendor, 'https://vendor.test/a.png', never);
  };

  it.each([
    [answered(200, 3), { kind: 'rendered', bytes: new Uint8Array(3) }],
    [answered(200), { kind: 'refused', reason: 'nothing_rendered', detail: 'HTTP 200 empty' }],
    [answered(201, 3), { kind: 'refused', reason: 'unknown_answer', detail: 'HTTP 201 download' }],
    [answered(404, 3), { kind: 'refused', reason: 'unknown_answer', detail: 'HTTP 404 download' }],
    [answered(429), 'trouble'],
    [answered(500), 'trouble'],
  ])('A download that is answered with %o is %j', async (response, outcome) => {
    expect(await downloading(response)).toEqual(outcome);
  });

  it('A download from another host is not made', async () => {
    expect(await downloading(answered(200, 3), false)).toEqual({
      kind: 'refused',
      reason: 'unknown_answer',
      detail: 'an address of another host',
    });
  });
});

describe('A status', () => {
  const forgotten: string[] = [];
  const credentials = {
    read: () => Promise.resolve(undefined),
    forget: (name: string) => void forgotten.push(name),
  };

  it.each([
    [200, undefined],
    [400, undefined],
    [401, 'credentials'],
    [402, 'credentials'],
    [403, 'credentials'],
    [404, undefined],
    [428, undefined],
    [429, 'unavailable'],
    [430, undefined],
    [499, undefined],
    [500, 'unknown_outcome'],
    [502, 'unknown_outcome'],
    [503, 'unavailable'],
    [504, 'unknown_outcome'],
  ])('The status %i of a submission is refused at once as %s', (status, reason) => {
    forgotten.length = 0;
    expect(refusedAtOnce(answered(status), credentials, 'vendor')).toEqual(
      reason && { kind: 'refused', reason, detail: `HTTP ${status}` },
    );
    expect(forgotten).toEqual(reason === 'credentials' ? ['vendor'] : []);
  });

  it.each([400, 404, 500])('The status %i is no refusal of our credentials', (status) => {
    expect(refusedCredentials(answered(status), credentials, 'vendor')).toBeUndefined();
  });
});

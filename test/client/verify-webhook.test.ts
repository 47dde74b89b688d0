import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { signWebhook, verifyWebhook, WebhookError } from '../../client/src/webhooks.ts';
import type { ReceivedParts } from '../../client/src/webhooks/received.ts';
import { verifyWebhookAt } from '../../client/src/webhooks/verify.ts';
import type { SigningSecrets } from '../../service/webhooks/secrets.ts';
import { webhookHeaders, webhookSecret } from '../../service/webhooks/webhook.ts';

const secretOf = (byte: number): string => webhookSecret(new Uint8Array(32).fill(byte));
const [secret, other, older] = [secretOf(1), secretOf(2), secretOf(3)];
const body = JSON.stringify({ event: 'creation.completed', id: 'c1', status: 'completed', cost: 0.01 });
const signedAtSeconds = 1_795_273_427;
const now = signedAtSeconds * 1000;

/** The headers as the service makes them. */
function headersOf(
  text = body,
  secrets: SigningSecrets = { current: secret, valid: [secret], lost: [] },
): Record<string, string> {
  const event = { event: 'creation.completed', messageId: 'c1:creation.completed' };
  return webhookHeaders({ ...event, deliveryId: 'd1', attempt: 1, signedAtSeconds, body: text }, secrets);
}

function without(headers: Record<string, string>, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
const standardNames = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const plainNames = ['x-timestamp', 'x-webhook-signature-256', 'x-webhook-signature-256-previous'];

interface Look {
  readonly with?: unknown;
  readonly nowMillis?: number;
  readonly toleranceSeconds?: number;
}

async function outcome(request: unknown, look: Look = {}): Promise<string> {
  try {
    const event = await verifyWebhookAt(
      request as ReceivedParts,
      ('with' in look ? look.with : secret) as string,
      {
        nowMillis: look.nowMillis ?? now,
        ...(look.toleranceSeconds !== undefined && { toleranceSeconds: look.toleranceSeconds }),
      },
    );
    return event.id;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return error.reason;
  }
}

describe('verifyWebhook', () => {
  it('accepts a delivery by either scheme alone', async () => {
    const headers = headersOf();
    expect(await outcome({ headers, body })).toBe('c1');
    expect(await outcome({ headers: without(headers, ...standardNames), body })).toBe('c1');
    expect(await outcome({ headers: without(headers, ...plainNames), body })).toBe('c1');
    expect(await outcome({ headers: without(headers, ...standardNames, ...plainNames), body })).toBe(
      'signature_missing',
    );
  });

  it.each<[string, (headers: Record<string, string>) => unknown]>([
    ['a fetch Request', (headers) => new Request('https://a.example/', { method: 'POST', headers, body })],
    ['headers of fetch and a text', (headers) => ({ headers: new Headers(headers), body })],
    ['a Buffer', (headers) => ({ headers, body: Buffer.from(body) })],
    ['an ArrayBuffer', (headers) => ({ headers, body: new TextEncoder().encode(body).buffer })],
    ['bytes in shared memory', (headers) => ({ headers, body: shared(body) })],
    [
      'a view of a larger buffer',
      (headers) => ({ headers, body: Buffer.from(`xx${body}yy`).subarray(2, -2) }),
    ],
    [
      'the base64 of API Gateway',
      (headers) => ({ headers, body: Buffer.from(body).toString('base64'), isBase64Encoded: true }),
    ],
    [
      'header names with capitals',
      (headers) => ({
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
        ),
        body,
      }),
    ],
    [
      'values in lists',
      (headers) => ({
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
        body,
      }),
    ],
    ['a header that is called get', (headers) => ({ headers: { ...headers, get: 'x' }, body })],
  ])('reads %s', async (_what, requestOf) => {
    for (const names of [standardNames, plainNames]) {
      expect(await outcome(requestOf(without(headersOf(), ...names)))).toBe('c1');
    }
  });

  it('accepts a delivery when one of several secrets signed it, by either scheme', async () => {
    const rotating = headersOf(body, { current: secret, previous: older, valid: [secret, older], lost: [] });
    for (const names of [[], standardNames, plainNames]) {
      const headers = without(rotating, ...names);
      expect(await outcome({ headers, body }, { with: older })).toBe('c1');
      expect(await outcome({ headers, body }, { with: secret })).toBe('c1');
      expect(await outcome({ headers, body }, { with: [other, older] })).toBe('c1');
      expect(await outcome({ headers, body }, { with: [other] })).toBe('signature_mismatch');
    }
  });

  it('accepts the values of webhook-signature after a proxy joined them with commas, or put newer ones first', async () => {
    const headers = without(headersOf(), ...plainNames);
    const value = headers['webhook-signature'] ?? '';
    for (const sent of [`v1,AAAA, ${value}`, `v1a,${'A'.repeat(86)}== ${value}`, `${value} v2,xyz`]) {
      expect(await outcome({ headers: { ...headers, 'webhook-signature': sent }, body })).toBe('c1');
    }
    const onlyNewer = { ...headers, 'webhook-signature': value.replace('v1,', 'v2,') };
    expect(await outcome({ headers: onlyNewer, body })).toBe('signature_mismatch');
  });

  it('refuses every change of the body, the time or the id', async () => {
    const headers = headersOf();
    for (const names of [standardNames, plainNames]) {
      const signed = without(headers, ...names);
      const later = String(signedAtSeconds + 1);
      expect(await outcome({ headers: signed, body: `${body} ` })).toBe('signature_mismatch');
      expect(
        await outcome({ headers: { ...signed, 'x-timestamp': later, 'webhook-timestamp': later }, body }),
      ).toBe('signature_mismatch');
    }
    const renamed = { ...without(headers, ...plainNames), 'webhook-id': 'c2:creation.completed' };
    expect(await outcome({ headers: renamed, body })).toBe('signature_mismatch');
  });

  it('never accepts a signature of another secret, whatever its form', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.base64String(), fc.constant(`sha256=${'0'.repeat(64)}`)),
        async (text) => {
          const value = text.replace(/[^\x20-\x7e]/g, '');
          const headers = {
            ...headersOf(),
            'webhook-signature': `v1,${value}`,
            'x-webhook-signature-256': value,
          };
          expect(await outcome({ headers, body })).toBe('signature_mismatch');
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each([
    [300, 300, 'c1'],
    [301, 300, 'timestamp_too_old'],
    [-300, 300, 'c1'],
    [-301, 300, 'timestamp_too_new'],
    [11, 10, 'timestamp_too_old'],
    [3600, Infinity, 'c1'],
    [0, Number.NaN, 'timestamp_too_old'],
  ])('a delivery that is %s s old, with a tolerance of %s s: %s', async (age, toleranceSeconds, wanted) => {
    const nowMillis = now + age * 1000;
    expect(await outcome({ headers: headersOf(), body }, { nowMillis, toleranceSeconds })).toBe(wanted);
    if (toleranceSeconds === 300) {
      expect(await outcome({ headers: headersOf(), body }, { nowMillis })).toBe(wanted);
    }
  });

  it('does not let a fresh time of one scheme cover an old time of the other', async () => {
    const old = { ...headersOf(), 'webhook-timestamp': String(signedAtSeconds + 9000) };
    expect(await outcome({ headers: old, body }, { nowMillis: now + 9_000_000 })).toBe('signature_mismatch');
  });

  it.each(['', 'soon', '-1', '1795273427.5', '1e9', '9'.repeat(13)])(
    'refuses the time %j',
    async (timestamp) => {
      const headers = { ...headersOf(), 'x-timestamp': timestamp, 'webhook-timestamp': timestamp };
      expect(await outcome({ headers, body })).toBe('timestamp_invalid');
    },
  );

  it.each([
    ['a parsed body', { event: 'creation.completed', id: 'c1' }],
    ['no body', undefined],
    ['a list of numbers', [123, 125]],
  ])('refuses %s and says that the raw bytes are needed', async (_what, parsed) => {
    expect(await outcome({ headers: headersOf(), body: parsed })).toBe('body_not_raw');
    await expect(verifyWebhook({ headers: headersOf(), body: parsed }, secret)).rejects.toThrow(
      'The raw body is missing',
    );
  });

  it('refuses a Request whose body was read before', async () => {
    const request = new Request('https://a.example/', { method: 'POST', headers: headersOf(), body });
    await request.json();
    expect(await outcome(request)).toBe('body_not_raw');
  });

  it.each([
    [undefined],
    [''],
    ['whsec_'],
    ['whsec_short'],
    ['dk_live_abc'],
    [[]],
    [[secret, undefined]],
    [null],
  ])('refuses the secret %j and never prints it', async (wrong) => {
    const look = { with: wrong };
    expect(await outcome({ headers: headersOf(), body }, look)).toBe('secret_invalid');
    await expect(verifyWebhook({ headers: headersOf(), body }, wrong as string)).rejects.not.toThrow(
      /short|dk_live_abc/,
    );
  });

  it.each([
    '',
    'null',
    '[]',
    '{"id":"c1"}',
    '{"event":"creation.completed"}',
    '{"event":1,"id":"c1"}',
    '\ufffe{',
  ])('refuses the signed body %j: it is no event', async (text) => {
    expect(await outcome({ headers: headersOf(text), body: text })).toBe('payload_invalid');
  });

  it('gives the event by its type', async () => {
    const event = await verifyWebhookAt({ headers: headersOf(), body }, secret, { nowMillis: now });
    if ('notice' in event || event.event !== 'creation.completed') throw new Error('another event');
    expect(event satisfies { readonly result_urls: readonly string[] }).toEqual(JSON.parse(body));
  });
});

describe('signWebhook', () => {
  it('makes the headers that the service makes', async () => {
    const signedAt = new Date(now);
    expect(await signWebhook(body, secret, { signedAt, deliveryId: 'd1' })).toEqual(headersOf());
  });

  it('signs a notice with its own id and header', async () => {
    const notice = JSON.stringify({ notice: 'wallet.low', id: 'ntc_1' });
    const headers = await signWebhook(notice, secret);
    expect(headers).toMatchObject({ 'x-darkroom-notice': 'wallet.low', 'webhook-id': 'ntc_1' });
    expect(headers).not.toHaveProperty('x-webhook-event');
    expect(await verifyWebhook({ headers, body: notice }, secret)).toEqual(JSON.parse(notice));
  });
});

function shared(text: string): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.set(Buffer.from(text));
  return bytes;
}

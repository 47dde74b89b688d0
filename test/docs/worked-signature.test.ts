/** The delivery that docs/api.md shows with its secret is signed as the service signs. */
import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../service/webhooks/webhook.ts';
import documented from '../../service/document/examples.json' with { type: 'json' };
import { readPage } from './pages.ts';

const api = readPage('docs/api.md');
const [head = '', body = ''] =
  api.blocks
    .find(({ example }) => example === 'delivery')
    ?.text.trimEnd()
    .split('\n\n') ?? [];
const shown = new Map(
  [...head.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name = '', value = '']) => [name.toLowerCase(), value]),
);

describe('The delivery of docs/api.md', () => {
  it('The body is that of the example webhook, on one line', () => {
    expect(body).toBe(JSON.stringify(documented.webhook));
  });

  it('The headers are those that the service sends with the secret of the page', () => {
    const secret = /whsec_[\w+/]{43}=/.exec(api.text)?.[0] ?? '';
    const attempt = {
      event: documented.webhook.event,
      messageId: `${documented.webhook.id}:${documented.webhook.event}`,
      deliveryId: shown.get('x-webhook-delivery-id') ?? '',
      attempt: 1,
      signedAtSeconds: Number(shown.get('x-timestamp')),
      body,
    };
    const sent = webhookHeaders(attempt, { current: secret, valid: [secret], lost: [] });
    expect(Object.fromEntries(shown)).toEqual(sent);
  });
});

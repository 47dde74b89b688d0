import { describe, expect, it } from 'vitest';
import { providers } from '../../service/catalog/providers.ts';
import { creationView, resultUrls } from '../../service/creations/creation.ts';
import { type ImageRequestBody, imageRequestSchema } from '../../service/creations/image-request.ts';
import { machineOf } from '../../service/creations/machines.ts';
import { fieldErrors } from '../../service/values/problem.ts';
import { executionName } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { monthOf, nextMonth } from '../../service/values/time.ts';
import { webhookBody } from '../../service/webhooks/webhook.ts';
import {
  aCompletedCreation,
  aCreation,
  addressOfTests,
  creationId,
  now,
  storedImage,
} from '../fixtures/records.ts';

const base = addressOfTests;

describe('a creation as its client sees it', () => {
  it('A queued creation has no result and no error', () => {
    expect(creationView(aCreation({ metadata: { order: 'A-1' } }), base, now)).toEqual({
      id: creationId,
      status: 'queued',
      model: 'sandbox-standard',
      prompt: 'a quiet lake',
      resolution: '1K',
      aspect_ratio: '1:1',
      output_format: 'png',
      seed: null,
      cost: 0.04,
      amount_refunded: 0,
      currency: 'USD',
      webhook: null,
      metadata: { order: 'A-1' },
      user: null,
      created_at: '2026-11-21T12:00:30.000Z',
      started_at: null,
      completed_at: null,
      cancelled_at: null,
    });
  });

  it.each(['present', 'absent'] as const)(
    'A result whose credentials are %s says so',
    (contentCredentials) => {
      const results = [{ ...storedImage, contentCredentials }];
      const view = creationView(aCompletedCreation({ results }), base, now);
      expect(view['results']).toMatchObject([{ content_credentials: contentCredentials }]);
    },
  );

  it('A result of a release that did not check content credentials says nothing about them', () => {
    const view = creationView(aCompletedCreation(), base, now);
    expect(Object.keys((view['results'] as object[])[0] ?? {})).toEqual([
      'url',
      'width',
      'height',
      'content_type',
      'bytes',
    ]);
  });

  it('A creation never shows a provider, a job, a lease, a key or the body of a webhook', () => {
    const creation = aCompletedCreation({
      attempts: [
        {
          provider: 'sandbox',
          providerModel: 'standard',
          startedAt: '',
          resultKey: storedImage.key,
          jobId: 'job-7',
          outcome: 'rendered',
          providerCostMicros: asMicros(98_765),
          unitMicros: asMicros(87_654),
          billedMicros: asMicros(76_543),
        },
      ],
      lease: { holder: 'request-1', until: now },
      webhook: {
        url: 'https://hooks.test',
        status: 'delivered',
        attempts: 1,
        nextAt: now,
        body: 'secret body',
      },
    });
    const client = { ...creation, model: 'm' };
    const shown = JSON.stringify(creationView(client, base, now)) + webhookBody(client, []);
    for (const hidden of [
      'sandbox',
      'job-7',
      'request-1',
      'Key001',
      'Acc0unt001',
      'secret body',
      '98765',
      '87654',
      '76543',
    ])
      expect(shown).not.toContain(hidden);
  });
});

describe('the addresses of results', () => {
  it('The addresses of results exist until the instant of their expiry', () => {
    const creation = aCompletedCreation({ resultsExpireAt: now + 1 });
    expect(resultUrls(creation, base, now)).toHaveLength(1);
    expect(resultUrls(creation, base, now + 1)).toEqual([]);
  });
});

describe('a month', () => {
  it('The month of an instant is the month in UTC', () => {
    expect(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59, 999))).toBe('2026_11');
    expect(monthOf(Date.UTC(2026, 11, 1))).toBe('2026_12');
  });

  it('The first instant of the next month follows each month, also at the end of a year', () => {
    expect(nextMonth(Date.UTC(2026, 10, 30, 23, 59, 59, 999))).toBe('2026-12-01T00:00:00.000Z');
    expect(nextMonth(Date.UTC(2026, 11, 1))).toBe('2027-01-01T00:00:00.000Z');
  });
});

describe('a creation', () => {
  it('The executions of a creation have its id as their name, with a number from the second execution on', () => {
    expect([1, 2, 3].map((number) => executionName(creationId, number))).toEqual([
      creationId,
      `${creationId}-2`,
      `${creationId}-3`,
    ]);
  });
});

function parse(body: object): ImageRequestBody {
  return imageRequestSchema.parse(body);
}

function problems(body: unknown): string[] {
  const result = imageRequestSchema.safeParse(body, { reportInput: true });
  return result.success
    ? []
    : fieldErrors(result.error.issues).map(({ field, code, message }) => `${field} ${code}: ${message}`);
}

describe('the body of a request', () => {
  it('The lengths of a body are counted in code points, so that an emoji is one character', () => {
    const emoji = {
      model: 'm',
      prompt: '😀'.repeat(10_000),
      image_urls: [`https://a.test/${'😀'.repeat(2_033)}`],
      webhook_url: `https://a.test/${'😀'.repeat(2_033)}`,
      metadata: { ['😀'.repeat(40)]: '😀'.repeat(500) },
    };
    expect(parse(emoji)).toEqual(emoji);
  });

  it.each(['__proto__', 'constructor'])('A body with a field named %s is refused', (name) => {
    const body = JSON.parse(`{"model":"m","prompt":"p","${name}":"x"}`) as object;
    expect(problems(body)).toEqual([`${name} unknown_field: not a field of this request`]);
  });

  it('A body with an object under the metadata key __proto__ is refused', () => {
    const body = JSON.parse('{"model":"m","prompt":"p","metadata":{"__proto__":{"a":"b"}}}') as object;
    expect(problems(body)).toEqual(['metadata.__proto__ invalid_type: must be a string']);
  });
});

const routes = (...names: string[]) => names.map((provider) => ({ provider }));

describe('the machine of a creation', () => {
  it.each(['fal', 'replicate'])('A creation whose first route is %s runs on the callback machine', (name) => {
    expect(machineOf(routes(name, 'openai'))).toBe('callback');
  });

  it.each(Object.keys(providers).filter((name) => name !== 'fal' && name !== 'replicate'))(
    'A creation whose first route is %s runs on the plain machine, whatever its other routes are',
    (name) => {
      expect(machineOf(routes(name, 'fal'))).toBeUndefined();
    },
  );

  it('A creation without a route, or with a provider that this release does not know, runs on the plain machine', () => {
    expect([machineOf([]), machineOf(routes('nobody'))]).toEqual([undefined, undefined]);
  });
});

/**
 * Tables and constants of core, stated a second time: a change of any entry has to be made here, too. The
 * second statement of the metrics is docs/alarms.md, which test/docs/tables.test.ts compares.
 */
import { describe, expect, it } from 'vitest';
import { conditions, hourOf } from '../../core/account.ts';
import { apiRoot, operations } from '../../core/contract.ts';
import { creationStatuses } from '../../core/creation.ts';
import * as formats from '../../core/image-formats.ts';
import * as limits from '../../core/limits.ts';
import { largestAvailableMicros } from '../../core/money.ts';
import { isEnabled, providers, type ProviderName } from '../../core/providers.ts';
import { signFromSeconds } from '../../core/webhook-secrets.ts';

describe('core/limits.ts', () => {
  it('The service has these limits and no others', () => {
    expect({ ...limits }).toEqual({
      defaultLimits: {
        postRate: 60,
        getRate: 600,
        maxConcurrent: 20,
        deadlineSeconds: 300,
        maxUnusedUploads: 100,
      },
      limitRanges: {
        postRate: [0, 1_000_000],
        getRate: [0, 1_000_000],
        maxConcurrent: [0, 100_000],
        deadlineSeconds: [1, 720],
        maxUnusedUploads: [0, 1_000],
      },
      defaultServiceCapacity: 2_000,
      serviceCapacityRange: [1, 1_000_000],
      startGraceMillis: 60_000,
      pollIntervalMillis: 1_000,
      firstPollSeconds: 2,
      pollPace: { least: 1, usual: 2, late: 5, most: 10, shortMillis: 5_000 },
      leaseRenewMillis: 2_400,
      rateWindowSeconds: 60,
      rejectionsBeforeBlock: 20,
      blockSeconds: 120,
      idempotencySeconds: 86_400,
      maxBodyBytes: 262_144,
      maxJsonDepth: 32,
      maxJsonValues: 1_000,
      maxFormParts: 32,
      maxUrlLength: 2_048,
      mostPageBytes: 5_000_000,
      eventMillis: 2_592_000_000,
      mostEvents: 100,
      mostHeldReads: 2,
      eventPausesMillis: [1_000, 1_500, 2_000],
      resolveMillis: 5_000,
      sourcesAtOnce: 4,
      sourceTimeoutMillis: 5_000,
      allSourcesTimeoutMillis: 15_000,
      sourceRedirects: 3,
      maxSourceBytes: 10_000_000,
      sourceSide: { least: 64, most: 8_192 },
      maxSourcePixels: 25_000_000,
      uploadAddressSeconds: 900,
      uploadMillis: 86_400_000,
      longestWaitSeconds: 20,
      latestAnswerMillis: 25_000,
      requestMillis: 26_000,
      overdueMillis: 1_500,
      chargeMillis: 5_000,
      heldMillis: 285_000,
      heldRequestMillis: 350_000,
      sendingMillis: 65_000,
      heldShare: { percent: 25, least: 2, most: 500 },
      maxEditBytes: 4_400_000,
      maxEditBodyBytes: 6_000_000,
      answerBeforeTimeoutMillis: 5_000,
      keepAliveMillis: 15_000,
      retryMillis: { afterTry: 900_000, longest: 1_800_000 },
      lateFirstTryMillis: 60_000,
      mcpRequestMillis: 80_000,
      mostInlineBytes: 1_000_000,
      repeatedCallSeconds: 60,
      toolWaitSeconds: { usual: 45, most: 50 },
    });
  });
});

describe('core/image-formats.ts', () => {
  it('The service has these resolutions, ratios, formats and limits and no others', () => {
    expect({ ...formats }).toEqual({
      resolutions: ['1K', '2K', '4K'],
      aspectRatios: ['1:1', '3:2', '2:3', '4:3', '3:4', '5:4', '4:5', '16:9', '9:16', '21:9'],
      outputFormats: ['png', 'jpeg', 'webp'],
      mostPromptLength: 10_000,
      mostImageUrls: 10,
    });
  });
});

describe('core/account.ts and core/creation.ts', () => {
  it('An account and a creation have these states', () => {
    expect(conditions).toEqual(['active', 'suspended', 'disabled']);
    expect(creationStatuses).toEqual(['queued', 'processing', 'completed', 'failed']);
  });

  it('A time is rounded down to its UTC hour', () => {
    expect(hourOf(Date.UTC(2026, 10, 21, 12, 59, 59, 999))).toBe('2026-11-21T12:00:00.000Z');
    expect(hourOf(Date.UTC(2026, 10, 21, 13))).toBe('2026-11-21T13:00:00.000Z');
  });
});

describe('core/money.ts', () => {
  it('An account may have at most a thousand million USD', () => {
    expect(largestAvailableMicros).toBe(1_000_000_000_000_000);
  });
});

describe('core/webhook-secrets.ts', () => {
  it('A new secret may sign now, in an hour or in a day', () => {
    expect(signFromSeconds).toEqual({ now: 0, '1h': 3_600, '24h': 86_400 });
  });
});

describe('core/contract.ts', () => {
  it('The contract has these operations below its root', () => {
    expect(apiRoot).toBe('/api/public/v1');
    expect(
      Object.entries(operations).map(([name, { method, path, handler, query }]) => [
        name,
        `${method} ${path}`,
        handler,
        [...query],
      ]),
    ).toEqual([
      ['listModels', 'GET /models', 'list-models', []],
      ['generateImage', 'POST /images/generate', 'generate-image', []],
      ['quoteImage', 'POST /images/quote', 'quote-image', []],
      ['createUpload', 'POST /uploads', 'create-upload', []],
      ['listCreations', 'GET /creations', 'list-creations', ['limit', 'cursor', 'status', 'model', 'user']],
      ['listEvents', 'GET /events', 'list-events', ['after', 'limit', 'wait', 'include']],
      ['getBalance', 'GET /balance', 'get-balance', ['user']],
      ['getCreation', 'GET /creations/{id}', 'get-creation', []],
      ['cancelCreation', 'POST /creations/{id}/cancel', 'cancel-creation', []],
    ]);
  });
});

describe('core/providers.ts', () => {
  it('The service has these providers, in the order in which an operator sees them', () => {
    expect(Object.entries(providers)).toEqual([
      ['sandbox', { title: 'Sandbox', credential: 'none' }],
      ['sandbox-large', { title: 'Sandbox, the second', credential: 'none' }],
      [
        'bedrock',
        {
          title: 'Amazon Bedrock',
          credential: 'role',
          accessAt: 'https://console.aws.amazon.com/bedrock/home?region=us-west-2#/modelaccess',
        },
      ],
      ['openai', { title: 'OpenAI', credential: 'key', accessAt: 'https://platform.openai.com/api-keys' }],
      [
        'google',
        { title: 'Google Gemini', credential: 'key', accessAt: 'https://aistudio.google.com/apikey' },
      ],
      ['bfl', { title: 'Black Forest Labs', credential: 'key', accessAt: 'https://dashboard.bfl.ai' }],
      ['fal', { title: 'fal', credential: 'key', accessAt: 'https://fal.ai/dashboard/keys' }],
      [
        'replicate',
        { title: 'Replicate', credential: 'key', accessAt: 'https://replicate.com/account/api-tokens' },
      ],
      [
        'alibaba',
        {
          title: 'Alibaba Model Studio',
          credential: 'key',
          accessAt: 'https://modelstudio.console.alibabacloud.com',
        },
      ],
      ['ideogram', { title: 'Ideogram', credential: 'key', accessAt: 'https://ideogram.ai/platform' }],
      ['xai', { title: 'xAI', credential: 'key', accessAt: 'https://console.x.ai' }],
      ['recraft', { title: 'Recraft', credential: 'key', accessAt: 'https://app.recraft.ai/profile/api' }],
      [
        'byteplus',
        {
          title: 'BytePlus ModelArk',
          credential: 'key',
          accessAt: 'https://console.byteplus.com/ark/apiKey',
        },
      ],
    ]);
  });

  it.each(Object.keys(providers) as ProviderName[])(
    'The provider %s is enabled by its name in the list, and without the list only when it needs nothing',
    (name) => {
      const needsNothing = name === 'sandbox' || name === 'sandbox-large';
      expect(isEnabled(name, [name])).toBe(true);
      expect(isEnabled(name, [])).toBe(needsNothing);
      expect(isEnabled(name, ['another'])).toBe(needsNothing);
    },
  );
});

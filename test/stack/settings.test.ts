/** The settings of a stack: which values they take, and how a wrong value is refused. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSettings, SettingsError } from '../../lib/settings.ts';
import { settingsFile, settingsLines } from '../recorded/settings-lines.ts';
import { fullSettings } from './full-settings.ts';

function refusal(input: unknown): string {
  try {
    parseSettings('lib/config/staging.ts', input);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

const certificate = 'arn:aws:acm:eu-central-1:123456789012:certificate/1111';

describe('settings', () => {
  it('The settings may be empty, because every setting has a default', () => {
    expect(parseSettings('lib/config/default.ts', {})).toEqual({
      apiTraffic: 'all-at-once',
      resultDays: 30,
      results: 'unguessable',
      resultKeys: false,
      keepPromptsDays: 90,
      thumbnails: true,
      uploadOrigins: ['*'],
      logRetentionDays: 30,
      limits: {},
      authFailureForm: 'envelope',
      topUpUrl: '',
      alarms: { acceptMillis: 2_000, imageSeconds: 120, concurrentExecutions: 1_000, trafficGone: 'off' },
      tracing: false,
      canary: 'off',
      sandbox: 'marked',
      bedrockRegion: 'us-west-2',
      architecture: 'arm64',
      startsPerSecond: 150,
      serviceCapacity: 2_000,
      portal: {},
      openai: { defaultModel: 'gpt-image-2', aliases: {} },
      heldRequests: { images: 'shared', mcp: 'shared' },
      heldSharePercent: 25,
      concurrency: {
        api: 'shared',
        refunds: 'shared',
        deliveries: 'shared',
        reconciler: 'shared',
        rendering: 'shared',
      },
      defaultAddresses: 'on',
      webAclArn: {},
      gatewayLogRole: 'create',
      throttling: { ratePerSecond: 500, burst: 1_000 },
    });
  });

  it('The settings may name every setting', () => {
    expect(parseSettings('lib/config/full.ts', fullSettings)).toEqual(fullSettings);
  });

  it('The settings may name a part of a group, and the rest of the group gets its defaults', () => {
    const throttling = (given: object) =>
      parseSettings('lib/config/staging.ts', { throttling: given }).throttling;
    expect(throttling({ burst: 20 })).toEqual({ ratePerSecond: 500, burst: 20 });
    expect(throttling({ ratePerSecond: 20 })).toEqual({ ratePerSecond: 20, burst: 1_000 });
  });

  it.each<[string, unknown]>([
    ['alarms.imageSeconds: must be a whole number from 1 to 720 (is 721)', { alarms: { imageSeconds: 721 } }],
    [
      'alarms.trafficGone: must be "off", "anomaly" or {minutes} (is "always")',
      { alarms: { trafficGone: 'always' } },
    ],
    ['tracing: must be true or false (is "on")', { tracing: 'on' }],
    ['thumbnails: must be true or false (is "on")', { thumbnails: 'on' }],
    ['canary: must be "off" or {everyMinutes} (is "on")', { canary: 'on' }],
    ['sandbox: must be one of off, marked, on (is "some")', { sandbox: 'some' }],
    [
      'sandbox: must be marked or on, because the canary orders pictures of the sandbox (is "off")',
      { sandbox: 'off', canary: { everyMinutes: 5 } },
    ],
    ['resultdays: there is no such setting', { resultdays: 3 }],
    ['limits.postrate: there is no such setting', { limits: { postrate: 3 } }],
    ['payments: must be {stripe} (is true)', { payments: true }],
    ['payments.stripe: must be {} or an object of settings of Stripe (is missing)', { payments: {} }],
    ['payments.stripe.taxIds: must be true or false (is 1)', { payments: { stripe: { taxIds: 1 } } }],
    ['payments.stripe.tax: there is no such setting', { payments: { stripe: { tax: true } } }],
    [
      'portal.signIn.issuer: must be the https address of an OpenID Connect issuer (is "http://login.example.com")',
      { portal: { signIn: { issuer: 'http://login.example.com', clientId: 'x' } } },
    ],
    [
      'portal.signIn.clientId: must be the id of the portal at the issuer (is missing)',
      { portal: { signIn: { issuer: 'https://login.example.com' } } },
    ],
    [
      'portal.paymentUrl: must be an https address (is "http://pay.example.com")',
      { portal: { paymentUrl: 'http://pay.example.com' } },
    ],
    [
      `portal.domain.certificateArn: must be the ARN of an ACM certificate in us-east-1, whatever the region of the stack (is "${certificate}")`,
      { portal: { domain: { name: 'portal.example.com', certificateArn: certificate } } },
    ],
    [
      'logRetentionDays: must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653 (is 31)',
      { logRetentionDays: 31 },
    ],
    [
      "apiDomain.certificateArn: must be the ARN of an ACM certificate in the stack's region (is missing)",
      { apiDomain: { name: 'api.example.com' } },
    ],
    [
      `resultsDomain.certificateArn: must be the ARN of an ACM certificate in us-east-1, whatever the region of the stack (is "${certificate}")`,
      { resultsDomain: { name: 'images.example.com', certificateArn: certificate } },
    ],
    [
      'openai.aliases.mine: must be the id of a model in the catalog (is "gpt-image-1")',
      { openai: { aliases: { mine: 'gpt-image-1' } } },
    ],
    [
      'openai.aliases: must be other names than those of the catalog (is {"sandbox-pro":"sandbox-sketch"})',
      { openai: { aliases: { 'sandbox-pro': 'sandbox-sketch' } } },
    ],
    [
      'openai.defaultModel: must be the id of a model in the catalog (is "dall-e-3")',
      { openai: { defaultModel: 'dall-e-3' } },
    ],
    [
      'heldRequests.images: must be a whole number from 1 to 10000, or "shared" (is 0)',
      { heldRequests: { images: 0 } },
    ],
    [
      'heldRequests.mcp: must be a whole number from 1 to 10000, or "shared" (is "all")',
      { heldRequests: { mcp: 'all' } },
    ],
    ['budget: must be {monthlyUsd} (is 50)', { budget: 50 }],
    ['budget.monthlyUsd: must be a whole number from 1 to 10000000 (is 0)', { budget: { monthlyUsd: 0 } }],
    ['gatewayLogRole: must be one of create, existing (is "none")', { gatewayLogRole: 'none' }],
    ['resultDays: must be a whole number from 1 to 3650 (is "30")', { resultDays: 30n }],
    [
      'providerNetwork.subnetIds.0: must be an id such as subnet-0123456789abcdef0 (is "vpc-0123456789abcdef0")',
      {
        providerNetwork: { subnetIds: ['vpc-0123456789abcdef0'], securityGroupIds: ['sg-0123456789abcdef0'] },
      },
    ],
    [
      'providerNetwork.securityGroupIds: must have one id at least (is [])',
      { providerNetwork: { subnetIds: ['subnet-0123456789abcdef0'], securityGroupIds: [] } },
    ],
    [
      'uploadOrigins.0: must be "*" or an origin, such as https://app.example.com (is "https://app.example.com/")',
      { uploadOrigins: ['https://app.example.com/'] },
    ],
    ['uploadOrigins: must be a list of origins (is [])', { uploadOrigins: [] }],
    ['settings: must be an object of settings (is missing)', undefined],
    ['settings: must be an object of settings (is [])', []],
  ])('The settings are refused with the name of the setting: %s', (message, input) => {
    expect(refusal(input)).toBe(`lib/config/staging.ts: ${message}`);
  });

  // Every number that has a range: its name, the least and the most that is taken.
  const ranges: readonly [string, number, number][] = [
    ['resultDays', 1, 3_650],
    ['keepPromptsDays', 0, 3_650],
    ['limits.postRate', 0, 1_000_000],
    ['limits.getRate', 0, 1_000_000],
    ['limits.maxConcurrent', 0, 100_000],
    ['limits.deadlineSeconds', 1, 720],
    ['limits.userPostRate', 0, 1_000_000],
    ['limits.userGetRate', 0, 1_000_000],
    ['limits.maxUnusedUploads', 0, 1_000],
    ['startsPerSecond', 10, 10_000],
    ['serviceCapacity', 1, 1_000_000],
    ['throttling.ratePerSecond', 1, 100_000],
    ['throttling.burst', 1, 5_000],
  ];
  /** { limits: { postRate: 3 } } for "limits.postRate" and 3. */
  const settingsWith = (name: string, value: unknown): object =>
    name.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as object;

  it.each(ranges)('The settings take a number for %s from %d to %d', (name, least, most) => {
    for (const value of [least, most])
      expect(parseSettings('lib/config/staging.ts', settingsWith(name, value))).toMatchObject(
        settingsWith(name, value),
      );
    for (const value of [least - 1, most + 1, least + 0.5, String(least)])
      expect(refusal(settingsWith(name, value))).toBe(
        `lib/config/staging.ts: ${name}: must be a whole number from ${least} to ${most} (is ${JSON.stringify(value)})`,
      );
  });

  it.each<[string, readonly string[]]>([
    ['authFailureForm', ['envelope', 'plain']],
    ['architecture', ['arm64', 'x86_64']],
    ['topUpUrl', ['', 'https://shop.example.com/']],
    ['alarmEmail', ['operator@example.com']],
    ['bedrockRegion', ['us-west-2', 'ap-southeast-1', 'us-gov-west-1']],
    ['restoredTable', ['abc', 'A_b-c.9', 'a'.repeat(255)]],
  ])('The settings take for %s each of these texts: %j', (name, texts) => {
    for (const text of texts)
      expect(parseSettings('lib/config/staging.ts', { [name]: text })).toMatchObject({ [name]: text });
  });

  const host = 'must be a host name in lower case, such as api.example.com';
  const apiCertificate = "must be the ARN of an ACM certificate in the stack's region";
  const resultsCertificate =
    'must be the ARN of an ACM certificate in us-east-1, whatever the region of the stack';
  const usEast = 'arn:aws:acm:us-east-1:123456789012:certificate/1111';
  it.each<[string, readonly unknown[], string]>([
    [
      'bedrockRegion',
      ['us-west', 'us-west-', 'us-west-22', 'usa-west-2', 'US-WEST-2', ' us-west-2', 'us-2'],
      'must be a region, such as us-west-2',
    ],
    ['backup', [3, 'eu-north-1', null], 'must be {copyToRegion}'],
    ['restoredTable', ['ab', 'a'.repeat(256), 'a b c', '', 'abc\n', 3], 'must be the name of a table'],
    ['topUpUrl', ['shop', 'ftp://shop.example.com', 3, null], 'must be an https address, or empty'],
    ['alarmEmail', ['', 'a@', 3], 'must be an e-mail address'],
    ['authFailureForm', ['', 'Plain', 3], 'must be one of envelope, plain'],
    ['architecture', ['', 'ARM64', 3], 'must be one of arm64, x86_64'],
    ['apiDomain.name', [3], 'must be a host name, such as api.example.com'],
    [
      'apiDomain.name',
      [
        ...['', 'example', 'a.b', 'API.example.com', '-api.example.com', 'api-.example.com'],
        ...['api..example.com', '.example.com', 'api.example.com.', ' api.example.com'],
        ...['api.example.com/', 'api.example.c0m'],
        `${'a'.repeat(64)}.com`,
        `a.${'b'.repeat(64)}`,
        `${'a.'.repeat(126)}com`,
      ],
      host,
    ],
    [
      'apiDomain.certificateArn',
      [
        3,
        '',
        ` ${usEast}`,
        `${usEast} `,
        usEast.replace('123456789012', '12345678901'),
        usEast.replace('acm', 'iam'),
        'arn:aws:acm:us-east-1:123456789012:certificate/',
      ],
      apiCertificate,
    ],
    [
      'resultsDomain.certificateArn',
      [3, '', ` ${usEast}`, `${usEast} `, usEast.replace('us-east-1', 'us-east-2')],
      resultsCertificate,
    ],
  ])('The settings refuse for %s each of these values: %j', (name, values, right) => {
    for (const value of values) {
      const whole = { apiDomain: { name: 'api.example.com', certificateArn: usEast } };
      const [group = '', field] = name.split('.');
      const given =
        field === undefined ? settingsWith(name, value) : { [group]: { ...whole.apiDomain, [field]: value } };
      expect(refusal(given)).toBe(`lib/config/staging.ts: ${name}: ${right} (is ${JSON.stringify(value)})`);
    }
  });

  it.each([
    'a.io',
    'api.example.com',
    'a-b.c9.example',
    `${'a'.repeat(63)}.com`,
    `a.${'b'.repeat(63)}`,
    `${'a.'.repeat(125)}com`,
  ])(
    'The settings take the host name %s with a certificate of any region and of any partition of AWS',
    (name) => {
      const certificateArn = 'arn:aws-us-gov:acm:us-gov-west-1:123456789012:certificate/a-b_1';
      const given = { apiDomain: { name, certificateArn } };
      expect(parseSettings('lib/config/staging.ts', given)).toMatchObject(given);
    },
  );

  it.each<[string, object, string]>([
    ['apiDomain', { apiDomain: 'api.example.com' }, 'must be {name, certificateArn} (is "api.example.com")'],
    ['resultsDomain', { resultsDomain: [] }, 'must be {name, certificateArn} (is [])'],
    ['limits', { limits: 3 }, 'must be an object of limits (is 3)'],
    ['throttling', { throttling: [] }, 'must be {ratePerSecond, burst} (is [])'],
  ])('The refusal says which form the group %s must have', (name, given, message) => {
    expect(refusal(given)).toBe(`lib/config/staging.ts: ${name}: ${message}`);
  });

  it('The refusal describes a value that JSON cannot hold as well as possible', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const right = 'lib/config/staging.ts: resultDays: must be a whole number from 1 to 3650';
    expect(refusal({ resultDays: circle })).toBe(`${right} (is a value that refers to itself)`);
    expect(refusal({ resultDays: { days: 30n, of: Boolean } })).toContain(
      `${right} (is {"days":"30","of":"function`,
    );
  });

  it('The settings are refused with one line for each wrong field', () => {
    expect(refusal({ resultDays: 0, burst: 3 }).split('\n').sort()).toEqual([
      'lib/config/staging.ts: burst: there is no such setting',
      'lib/config/staging.ts: resultDays: must be a whole number from 1 to 3650 (is 0)',
    ]);
  });
});

it('Wrong values and limits of each setting are answered as recorded (node test/recorded/write.ts records anew)', () => {
  expect(settingsLines()).toEqual(JSON.parse(readFileSync(settingsFile, 'utf8')));
});

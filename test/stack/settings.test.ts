import { describe, expect, it } from 'vitest';
import { parseSettings, SettingsError } from '../../lib/settings.ts';
import { defaultStage, settingsOf } from '../../lib/stage-settings.ts';
import { fullSettings } from './full-settings.ts';

function refusal(input: unknown): string {
  try {
    parseSettings('config/staging.ts', input);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

const certificate = 'arn:aws:acm:eu-central-1:123456789012:certificate/1111';

describe('settings', () => {
  it('may be none: everything has a default', () => {
    expect(parseSettings('config/default.ts', {})).toMatchObject({
      resultDays: 30,
      logRetentionDays: 30,
      limits: {},
      authFailureForm: 'envelope',
      topUpUrl: '',
      architecture: 'arm64',
      throttling: { ratePerSecond: 500, burst: 1_000 },
    });
  });

  it('may be all', () => {
    expect(parseSettings('config/full.ts', fullSettings)).toEqual(fullSettings);
  });

  it('may be part of a group: the rest has its default', () => {
    expect(parseSettings('config/staging.ts', { throttling: { burst: 20 } }).throttling).toEqual({
      ratePerSecond: 500,
      burst: 20,
    });
  });

  it.each<[string, unknown, string]>([
    ['a misspelt field', { resultdays: 3 }, 'resultdays: there is no such setting'],
    ['a misspelt field of a group', { limits: { postrate: 3 } }, 'limits.postrate: there is no such setting'],
    [
      'a number that is none',
      { resultDays: '30' },
      'resultDays: must be a whole number from 1 to 3650 (is "30")',
    ],
    [
      'a number out of range',
      { limits: { deadlineSeconds: 721 } },
      'limits.deadlineSeconds: must be a whole number from 1 to 720 (is 721)',
    ],
    [
      'a retention that CloudWatch does not know',
      { logRetentionDays: 31 },
      'logRetentionDays: must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653 (is 31)',
    ],
    [
      'another form',
      { authFailureForm: 'json' },
      'authFailureForm: must be one of envelope, plain (is "json")',
    ],
    ['another processor', { architecture: 'arm' }, 'architecture: must be one of arm64, x86_64 (is "arm")'],
    [
      'an address in plain text',
      { topUpUrl: 'http://shop.example.com' },
      'topUpUrl: must be an https address, or empty (is "http://shop.example.com")',
    ],
    [
      'no e-mail address',
      { alarmEmail: 'operator' },
      'alarmEmail: must be an e-mail address (is "operator")',
    ],
    [
      'a host name with a scheme',
      { apiDomain: { name: 'https://api.example.com', certificateArn: certificate } },
      'apiDomain.name: must be a host name in lower case, such as api.example.com (is "https://api.example.com")',
    ],
    [
      'a domain without its certificate',
      { apiDomain: { name: 'api.example.com' } },
      "apiDomain.certificateArn: must be the ARN of an ACM certificate in the stack's region (is missing)",
    ],
    [
      'a certificate that CloudFront cannot take',
      { resultsDomain: { name: 'images.example.com', certificateArn: certificate } },
      `resultsDomain.certificateArn: must be the ARN of an ACM certificate in us-east-1, whatever the region of the stack (is "${certificate}")`,
    ],
    ['throttling as a number', { throttling: 3 }, 'throttling: must be {ratePerSecond, burst} (is 3)'],
    [
      'a region that is no text',
      { bedrockRegion: 3 },
      'bedrockRegion: must be a region, such as us-west-2 (is 3)',
    ],
    [
      'a number too large for JSON',
      { resultDays: 30n },
      'resultDays: must be a whole number from 1 to 3650 (is "30")',
    ],
    ['a group that is null', { apiDomain: null }, 'apiDomain: must be {name, certificateArn} (is null)'],
    ['no value at all', undefined, 'settings: must be an object of settings (is missing)'],
    ['no object', [], 'settings: must be an object of settings (is [])'],
  ])('are refused for %s', (_what, input, message) => {
    expect(refusal(input)).toBe(`config/staging.ts: ${message}`);
  });

  it('are refused with a line for each field', () => {
    expect(refusal({ resultDays: 0, burst: 3 }).split('\n').sort()).toEqual([
      'config/staging.ts: burst: there is no such setting',
      'config/staging.ts: resultDays: must be a whole number from 1 to 3650 (is 0)',
    ]);
  });
});

describe('a stage', () => {
  it.each([
    ['nowhere', 'stage: there is no config/nowhere.ts; copy config/default.ts to begin with'],
    [
      '../lib/settings',
      'stage: "../lib/settings" must be a name of small letters, digits and hyphens, 30 at most',
    ],
  ])('%s is refused in one line', async (stage, line) => {
    await expect(settingsOf(stage)).rejects.toThrow(new SettingsError(line));
  });

  it('of the default name has a file', async () => {
    expect(await settingsOf(defaultStage)).toBeDefined();
  });
});

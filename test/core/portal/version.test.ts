/** The versions that a page sends back with a change. */
import { describe, expect, it } from 'vitest';
import { asMicros } from '../../../core/money.ts';
import { alertsVersion, keyVersion, memberVersion } from '../../../core/portal/version.ts';
import { anAccount, anApiKey, now } from '../../fixtures/records.ts';

const cap = asMicros(1_000_000);
const at = new Date(now).toISOString();

describe('the version of a key', () => {
  it.each([
    { name: 'other' },
    { dailyCapMicros: cap },
    { monthlyCapMicros: cap },
    { totalCapMicros: cap },
    { perUserMonthlyCapMicros: cap },
    { models: [] },
    { models: ['sandbox-sketch'] },
    { expiresAt: at },
    { revokedAt: at },
  ])('%j is another version', (change) => {
    expect(keyVersion(anApiKey(change))).not.toBe(keyVersion(anApiKey()));
  });

  it('The same limit of another kind is another version', () => {
    const daily = keyVersion(anApiKey({ dailyCapMicros: cap }));
    expect(daily).not.toBe(keyVersion(anApiKey({ monthlyCapMicros: cap })));
  });

  it('A charge makes no other version', () => {
    const charged = anApiKey({ spent: { '2026_11': cap }, lastUsedAt: at });
    expect(keyVersion(charged)).toBe(keyVersion(anApiKey()));
  });
});

describe('the version of alerts and of a person', () => {
  it('Each value that can be changed makes another version', () => {
    const versions = [
      {},
      { noticeUrl: 'https://a.test/' },
      { noticeUrl: 'https://b.test/' },
      { lowBalanceMicros: cap },
    ].map((change) => alertsVersion(anAccount(change)));
    expect(new Set(versions).size).toBe(4);
    const members = [
      { role: 'viewer' },
      { role: 'developer' },
      { role: 'developer', keyCapMicros: cap },
      { role: 'developer', keyCapMicros: asMicros(0) },
    ] as const;
    expect(new Set(members.map(memberVersion)).size).toBe(4);
  });

  it('A charge makes no other version of the alerts', () => {
    expect(alertsVersion(anAccount({ availableMicros: cap }))).toBe(alertsVersion(anAccount()));
  });
});

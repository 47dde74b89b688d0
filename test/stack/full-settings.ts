import type { SettingsInput } from '../../lib/settings.ts';

/** The firewalls. */
export const fullWebAcls = {
  portal: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/portal/33333333-4444-5555-6666-777777777777',
  api: 'arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/api/44444444-5555-6666-7777-888888888888',
};

/** A value for every setting that differs from its default. */
export const fullSettings: Required<SettingsInput> = {
  apiDomain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/11111111-2222-3333-4444-555555555555',
  },
  defaultAddresses: 'off',
  webAclArn: fullWebAcls,
  resultsDomain: {
    name: 'images.example.com',
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/66666666-7777-8888-9999-000000000000',
  },
  results: 'signed',
  resultKeys: true,
  resultDays: 7,
  keepPromptsDays: 14,
  thumbnails: false,
  uploadOrigins: ['https://app.example.com', 'http://localhost:3000'],
  logRetentionDays: 90,
  limits: {
    ...{ postRate: 10, getRate: 100, userPostRate: 5, userGetRate: 50 },
    ...{ maxConcurrent: 5, deadlineSeconds: 120, maxUnusedUploads: 100 },
  },
  authFailureForm: 'plain',
  topUpUrl: 'https://shop.example.com/credits',
  alarmEmail: 'operator@example.com',
  budget: { monthlyUsd: 50 },
  alarms: { acceptMillis: 1_000, imageSeconds: 60, concurrentExecutions: 3_000, trafficGone: 'anomaly' },
  tracing: true,
  canary: { everyMinutes: 5 },
  sandbox: 'on',
  architecture: 'x86_64',
  bedrockRegion: 'eu-west-1',
  backup: { copyToRegion: 'eu-north-1' },
  providerNetwork: {
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  restoredTable: 'Darkroom-restored-2026-11-21',
  startsPerSecond: 300,
  serviceCapacity: 15_000,
  apiTraffic: 'canary-10-percent-5-minutes',
  portal: {
    domain: {
      name: 'portal.example.com',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/22222222-3333-4444-5555-666666666666',
    },
    signIn: {
      issuer: 'https://login.example.com/tenant/v2.0',
      clientId: 'darkroom-portal',
      emailsAreVerified: true,
      hasAuthTime: false,
    },
    originSecretVersion: '11111111-2222-3333-4444-555555555555',
    contact: 'Write to help@example.com',
  },
  payments: { stripe: { automaticTax: true, taxIds: true, invoices: true, suspendOnDispute: true } },
  openai: { defaultModel: 'gemini-3-pro-image', aliases: { 'my-model': 'flux-2-pro' } },
  heldRequests: { images: 20, mcp: 'shared' },
  heldSharePercent: 30,
  concurrency: { api: 40, refunds: 10, deliveries: 'shared', reconciler: 5, rendering: 100 },
  gatewayLogRole: 'existing',
  throttling: { ratePerSecond: 100, burst: 200 },
};

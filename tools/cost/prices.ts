/**
 * The prices of AWS in us-east-1, in USD. Whoever changes a price here also changes the date, and then runs
 * `npm run cost`, which writes docs/cost.md.
 */
export const pricesReadAt = '2026-11-21';

export const prices = {
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  writeUnit: 0.625 / 1e6,
  readUnit: 0.125 / 1e6,
  /** https://aws.amazon.com/step-functions/pricing/ (Standard) */
  transition: 25 / 1e6,
  /** https://aws.amazon.com/lambda/pricing/ (arm64, the first tier) */
  invocation: 0.2 / 1e6,
  gigabyteSecond: 0.0000133334,
  /** https://aws.amazon.com/api-gateway/pricing/ (HTTP API, the first tier, up to 512 KB a request) */
  apiRequest: 1 / 1e6,
  /** The same page (REST API, the first tier; a streamed answer counts as one request for each 10 MB) */
  restRequest: 3.5 / 1e6,
  /** https://aws.amazon.com/s3/pricing/ */
  objectPut: 0.005 / 1e3,
  objectGet: 0.0004 / 1e3,
  /** https://aws.amazon.com/secrets-manager/pricing/ */
  secretMonth: 0.4,
  secretCall: 0.05 / 1e4,
  /** https://aws.amazon.com/cloudfront/pricing/ (HTTPS requests in North America, CloudFront Functions) */
  edgeRequest: 0.01 / 1e4,
  edgeFunction: 0.1 / 1e6,
  /** https://aws.amazon.com/cognito/pricing/ (Essentials, somebody who signs in during the month) */
  activePerson: 0.015,
  /** https://aws.amazon.com/cloudwatch/pricing/ */
  logGigabyte: 0.5,
  alarmMonth: 0.1,
  metricMonth: 0.3,
  dashboardMonth: 3,
} as const;

/**
 * The assumed time of one call to AWS, and of one call to a vendor that calls back. The local service answers almost at once, so this time is added to the
 * measured time. The figures are of the same size as the latency metrics of the services.
 */
export const awsMillis: Readonly<Record<string, number>> = {
  dynamodb: 6,
  states: 30,
  s3: 40,
  secretsmanager: 20,
  /** A request to the vendor's queue or for the image. The wait for the rendering is not in it. */
  vendor: 300,
};
/** The assumed time in which a customer's receiver answers a webhook. */
export const receiverMillis = 150;
/** The lines START, END and REPORT, which Lambda itself logs for every invocation. */
export const platformLogBytes = 330;

/**
 * The prices of AWS in us-east-1, in USD. Whoever changes a price here also changes the date, and then runs
 * `npm run cost -- --write`, which writes docs/cost.md.
 */
export const pricesReadAt = '2026-11-23';

/**
 * How a figure was seen. 'page': in a stored copy of AWS's own page. 'quoted': in several other texts that quote
 * AWS, because the stored copies of AWS's page do not show the figure. 'known': nowhere anew; the figure is the one
 * that this file has had since its first version.
 */
type Seen = 'page' | 'quoted' | 'known';

interface Price {
  /** USD for one unit. */
  readonly usd: number;
  readonly unit: string;
  readonly page: string;
  readonly seen: Seen;
}

/** A storage month is a GB that is stored for a month. */
export const priceList = {
  writeUnit: {
    usd: 0.625 / 1e6,
    unit: 'a write unit of DynamoDB, on demand',
    page: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    seen: 'quoted',
  },
  readUnit: {
    usd: 0.125 / 1e6,
    unit: 'a read unit of DynamoDB, on demand',
    page: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    seen: 'quoted',
  },
  tableGigabyteMonth: {
    usd: 0.25,
    unit: 'a GB and month in DynamoDB',
    page: 'https://aws.amazon.com/dynamodb/pricing/',
    seen: 'page',
  },
  backupGigabyteMonth: {
    usd: 0.2,
    unit: 'a GB and month of point-in-time recovery',
    page: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    seen: 'known',
  },
  transition: {
    usd: 25 / 1e6,
    unit: 'a state transition of Step Functions (Standard)',
    page: 'https://aws.amazon.com/step-functions/pricing/',
    seen: 'known',
  },
  invocation: {
    usd: 0.2 / 1e6,
    unit: 'an invocation of Lambda',
    page: 'https://aws.amazon.com/lambda/pricing/',
    seen: 'quoted',
  },
  gigabyteSecond: {
    usd: 0.0000133334,
    unit: 'a GB-second of Lambda (arm64, first tier)',
    page: 'https://aws.amazon.com/lambda/pricing/',
    seen: 'known',
  },
  apiRequest: {
    usd: 1 / 1e6,
    unit: 'a request of an HTTP API (first tier, up to 512 KB)',
    page: 'https://aws.amazon.com/api-gateway/pricing/',
    seen: 'quoted',
  },
  restRequest: {
    usd: 3.5 / 1e6,
    unit: 'a request of a REST API (first tier; a streamed answer counts once for each 10 MB)',
    page: 'https://aws.amazon.com/api-gateway/pricing/',
    seen: 'quoted',
  },
  trafficGigabyte: {
    usd: 0.09,
    unit: 'a GB from Lambda or API Gateway to the internet (first tier)',
    page: 'https://aws.amazon.com/ec2/pricing/on-demand/',
    seen: 'quoted',
  },
  objectPut: {
    usd: 0.005 / 1e3,
    unit: 'a PUT of S3',
    page: 'https://aws.amazon.com/s3/pricing/',
    seen: 'known',
  },
  objectGet: {
    usd: 0.0004 / 1e3,
    unit: 'a GET of S3',
    page: 'https://aws.amazon.com/s3/pricing/',
    seen: 'known',
  },
  objectGigabyteMonth: {
    usd: 0.023,
    unit: 'a GB and month in S3 (Standard, first tier)',
    page: 'https://aws.amazon.com/s3/pricing/',
    seen: 'known',
  },
  secretMonth: {
    usd: 0.4,
    unit: 'a secret and month',
    page: 'https://aws.amazon.com/secrets-manager/pricing/',
    seen: 'known',
  },
  secretCall: {
    usd: 0.05 / 1e4,
    unit: 'a call of Secrets Manager',
    page: 'https://aws.amazon.com/secrets-manager/pricing/',
    seen: 'known',
  },
  edgeRequest: {
    usd: 0.01 / 1e4,
    unit: 'an HTTPS request of CloudFront (North America)',
    page: 'https://aws.amazon.com/cloudfront/pricing/',
    seen: 'known',
  },
  edgeFunction: {
    usd: 0.1 / 1e6,
    unit: 'a run of a CloudFront Function',
    page: 'https://aws.amazon.com/cloudfront/pricing/',
    seen: 'quoted',
  },
  edgeGigabyte: {
    usd: 0.085,
    unit: 'a GB from CloudFront to the internet (North America and Europe, first 10 TB)',
    page: 'https://aws.amazon.com/cloudfront/pricing/',
    seen: 'page',
  },
  activePerson: {
    usd: 0.015,
    unit: 'a person who signs in with Cognito (Essentials) during a month',
    page: 'https://aws.amazon.com/cognito/pricing/',
    seen: 'known',
  },
  logGigabyte: {
    usd: 0.5,
    unit: 'a GB that CloudWatch Logs takes in',
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'known',
  },
  logGigabyteMonth: {
    usd: 0.03,
    unit: 'a GB and month in CloudWatch Logs',
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'known',
  },
  alarmMonth: {
    usd: 0.1,
    unit: 'a metric of an alarm and month (standard resolution)',
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'quoted',
  },
  metricMonth: {
    usd: 0.3,
    unit: 'a metric of our own and month (first 10,000), billed for the hours in which it was sent',
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'quoted',
  },
  dashboardMonth: {
    usd: 3,
    unit: 'a dashboard and month',
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'known',
  },
  trace: {
    usd: 5 / 1e6,
    unit: 'a trace that X-Ray records',
    page: 'https://aws.amazon.com/xray/pricing/',
    seen: 'page',
  },
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof priceList;

/** USD for one unit of each. */
export const prices = Object.fromEntries(
  Object.entries(priceList).map(([name, { usd }]) => [name, usd]),
) as Readonly<Record<PriceName, number>>;

/**
 * The assumed time of one call to AWS, and of one call to a vendor that calls back. The local service answers
 * almost at once, so this time is added to the measured time. The figures are of the same size as the latency
 * metrics of the services.
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
/** The length of one line in the access log of an API. */
export const accessLogBytes = 350;

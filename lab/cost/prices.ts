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

function price(usd: number, unit: string, page: string, seen: Seen): Price {
  return { usd, unit, page: `https://aws.amazon.com/${page}/`, seen };
}

/** A storage month is a GB that is stored for a month. */
export const priceList = {
  writeUnit: price(
    0.625 / 1e6,
    'a write unit of DynamoDB, on demand',
    'dynamodb/pricing/on-demand',
    'quoted',
  ),
  readUnit: price(0.125 / 1e6, 'a read unit of DynamoDB, on demand', 'dynamodb/pricing/on-demand', 'quoted'),
  tableGigabyteMonth: price(0.25, 'a GB and month in DynamoDB', 'dynamodb/pricing', 'page'),
  backupGigabyteMonth: price(
    0.2,
    'a GB and month of point-in-time recovery',
    'dynamodb/pricing/on-demand',
    'known',
  ),
  transition: price(
    25 / 1e6,
    'a state transition of Step Functions (Standard)',
    'step-functions/pricing',
    'known',
  ),
  invocation: price(0.2 / 1e6, 'an invocation of Lambda', 'lambda/pricing', 'quoted'),
  gigabyteSecond: price(0.0000133334, 'a GB-second of Lambda (arm64, first tier)', 'lambda/pricing', 'known'),
  apiRequest: price(
    1 / 1e6,
    'a request of an HTTP API (first tier, up to 512 KB)',
    'api-gateway/pricing',
    'quoted',
  ),
  restRequest: price(
    3.5 / 1e6,
    'a request of a REST API (first tier; a streamed answer counts once for each 10 MB)',
    'api-gateway/pricing',
    'quoted',
  ),
  trafficGigabyte: price(
    0.09,
    'a GB from Lambda or API Gateway to the internet (first tier)',
    'ec2/pricing/on-demand',
    'quoted',
  ),
  objectPut: price(0.005 / 1e3, 'a PUT of S3', 's3/pricing', 'known'),
  objectGet: price(0.0004 / 1e3, 'a GET of S3', 's3/pricing', 'known'),
  objectGigabyteMonth: price(0.023, 'a GB and month in S3 (Standard, first tier)', 's3/pricing', 'known'),
  secretMonth: price(0.4, 'a secret and month', 'secrets-manager/pricing', 'known'),
  secretCall: price(0.05 / 1e4, 'a call of Secrets Manager', 'secrets-manager/pricing', 'known'),
  edgeRequest: price(
    0.01 / 1e4,
    'an HTTPS request of CloudFront (North America)',
    'cloudfront/pricing',
    'known',
  ),
  edgeFunction: price(0.1 / 1e6, 'a run of a CloudFront Function', 'cloudfront/pricing', 'quoted'),
  edgeGigabyte: price(
    0.085,
    'a GB from CloudFront to the internet (North America and Europe, first 10 TB)',
    'cloudfront/pricing',
    'page',
  ),
  activePerson: price(
    0.015,
    'a person who signs in with Cognito (Essentials) during a month',
    'cognito/pricing',
    'known',
  ),
  logGigabyte: price(0.5, 'a GB that CloudWatch Logs takes in', 'cloudwatch/pricing', 'known'),
  logGigabyteMonth: price(0.03, 'a GB and month in CloudWatch Logs', 'cloudwatch/pricing', 'known'),
  alarmMonth: price(
    0.1,
    'a metric of an alarm and month (standard resolution)',
    'cloudwatch/pricing',
    'quoted',
  ),
  metricMonth: price(
    0.3,
    'a metric of our own and month (first 10,000), billed for the hours in which it was sent',
    'cloudwatch/pricing',
    'quoted',
  ),
  dashboardMonth: price(3, 'a dashboard and month', 'cloudwatch/pricing', 'known'),
  trace: price(5 / 1e6, 'a trace that X-Ray records', 'xray/pricing', 'page'),
} satisfies Readonly<Record<string, Price>>;

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

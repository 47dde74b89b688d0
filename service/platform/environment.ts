/** The only reader of the environment in functions/. */
import { type SandboxSetting, sandboxSettings } from '../contract/sandbox.ts';
import type { OutboundRules } from '../outbound/client-url.ts';

/** Every variable that the stack may give to a function; lib/ declares each variable where it is used. */
export type Variable =
  | 'TABLE_NAME'
  | 'STATE_MACHINE_ARN'
  | 'NOTICE_MACHINE_ARN'
  | 'MAIL_TOPICS'
  | 'CALLBACK_MACHINE_ARN'
  | 'STARTS_PER_SECOND'
  | 'SERVICE_CAPACITY'
  | 'HELD_LIMIT'
  | 'IMAGES_BUCKET'
  | 'RESULTS_BASE_URL'
  | 'RESULT_DAYS'
  | 'RESULTS'
  | 'RESULT_KEY_ARN'
  | 'RESULT_KEY_ID'
  | 'THUMBNAILS'
  | 'KEEP_PROMPTS_DAYS'
  | 'ENCRYPTION_SECRET_ARN'
  | 'OUTBOUND_RULES'
  | 'AUTH_FAILURE_FORM'
  | 'TOP_UP_URL'
  | 'METRICS_NAMESPACE'
  | 'URL_SUFFIX'
  | 'PROVIDER_SECRET_ARN'
  | 'PROVIDER_BASE_URLS'
  | 'BEDROCK_REGION'
  | 'CALLBACK_BASE_URL'
  | 'PAGES_BUCKET'
  | 'PORTAL_URL'
  | 'API_URL'
  | 'PORTAL_SETTINGS'
  | 'ORIGIN_SECRET_ARN'
  | 'PORTAL_ISSUER'
  | 'PORTAL_CLIENT_ID'
  | 'SIGN_IN_SECRET_ARN'
  | 'DEFAULT_LIMITS'
  | 'USER_POOL_ID'
  | 'OPENAI_ALIASES'
  | 'OPENAI_URL'
  | 'MCP_URL'
  | 'CANARY_SECRET_ARN'
  | 'PAYMENT_SECRET_ARN'
  | 'PAYMENT_SETTINGS'
  | 'SANDBOX';

/** Throws when the variable is not set. */
export function environment(name: Variable): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
  return value;
}

export function sandboxSetting(read: typeof environment): SandboxSetting {
  const value = read('SANDBOX');
  const known = sandboxSettings.find((one) => one === value);
  if (!known) throw new Error(`the environment variable SANDBOX is none of ${sandboxSettings.join(', ')}`);
  return known;
}

export function outboundRules(read: typeof environment): OutboundRules {
  return read('OUTBOUND_RULES') === 'loopback-too' ? 'loopback-too' : 'public';
}

/** What Lambda itself sets, as the AWS SDK's own clients read it, and the domain of AWS in this partition. */
export function awsEnvironment(): {
  readonly region: string;
  readonly urlSuffix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly endpoint?: string;
} {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_ENDPOINT_URL } =
    process.env;
  return {
    region: AWS_REGION ?? '',
    urlSuffix: environment('URL_SUFFIX'),
    accessKeyId: AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: AWS_SECRET_ACCESS_KEY ?? '',
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    ...(AWS_ENDPOINT_URL !== undefined && { endpoint: AWS_ENDPOINT_URL }),
  };
}

/** What the handlers' modules read of the environment as they are loaded: nothing real is behind it. */
export const environment: Readonly<Record<string, string>> = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'simulated',
  AWS_SECRET_ACCESS_KEY: 'simulated',
  TABLE_NAME: 'table',
  STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:creation',
  IMAGES_BUCKET: 'images',
  RESULTS_BASE_URL: 'https://results.test',
  RESULT_DAYS: '30',
  ENCRYPTION_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:encryption',
  OUTBOUND_RULES: 'public',
  AUTH_FAILURE_FORM: 'envelope',
  PROVIDER_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:providers',
  PROVIDER_BASE_URLS: '{}',
  BEDROCK_REGION: 'us-west-2',
  TOP_UP_URL: 'https://portal.test/wallet',
  METRICS_NAMESPACE: 'Darkroom',
};

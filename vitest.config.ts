import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/fixtures/synthesize.ts'],
    setupFiles: ['test/fixtures/quiet.ts'],
    pool: 'forks',
    // No file leaves anything behind in its process, so that a hundred of them need not load everything anew: a third less of the processor.
    isolate: false,
    // Each file that needs the service starts one of its own. Two processors carry three: many tests wait for a time limit.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
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
    },
  },
});

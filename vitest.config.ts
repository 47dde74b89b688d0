import { defineConfig } from 'vitest/config';

/** Rooms whose files leave nothing behind in their process: they share one, which saves the start of thirty. */
const units = ['core', 'conformance', 'adapters/providers', 'stack'].map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'service', include: ['test/**/*.test.ts'], exclude: units } },
      { extends: true, test: { name: 'units', include: units, isolate: false } },
    ],
    globalSetup: ['test/fixtures/synthesize.ts'],
    setupFiles: ['test/fixtures/quiet.ts'],
    pool: 'forks',
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

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment } from './lab/simulation/environment.ts';
import { LongestFirst } from './test/fixtures/longest-first.ts';

const source = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig({
  // Tests and recipes import the client as its users do. What they get is the source, not a build of it.
  resolve: {
    alias: {
      'darkroom-client/ai-sdk': source('client/src/ai-sdk.ts'),
      'darkroom-client/operator': source('client/src/operator.ts'),
      'darkroom-client/webhooks': source('client/src/webhooks.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/fixtures/around-all.ts'],
    setupFiles: ['test/fixtures/quiet.ts'],
    pool: 'forks',
    // No file leaves anything behind in its process, so that a hundred of them need not load everything anew:
    // a third less of the processor.
    isolate: false,
    // Each file that needs the service starts one of its own. Two processors carry eight: many tests wait for
    // a time limit.
    maxWorkers: 8,
    sequence: { sequencer: LongestFirst },
    // The only limits in real time: a test waits until a fact is there, however slow the machine is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 110_000 } },
    // CDK's own check of a template takes one to three seconds. Two tests in test/stack turn it on again.
    env: { ...environment, CDK_VALIDATION: 'false' },
  },
});

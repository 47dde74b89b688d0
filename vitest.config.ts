import { defineConfig } from 'vitest/config';
import { environment } from './lab/simulation/environment.ts';
import { LongestFirst } from './test/fixtures/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/fixtures/around-all.ts'],
    // Vitest would run a setup file before each test file, and each run would add one more hook to the process.
    execArgv: ['client-source', 'quiet'].map(
      (name) => `--import=${new URL(`test/fixtures/${name}.ts`, import.meta.url).href}`,
    ),
    // Node runs TypeScript by itself. Vite would transform each of a thousand files first: a tenth more of the processor.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // No file leaves anything behind in its process, so that a hundred of them need not load everything anew:
    // a third less of the processor.
    isolate: false,
    // Many tests wait for a time limit, so two processors carry four files at a time. Each further process would
    // load every module again.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // The only limits in real time: a test waits until a fact is there, however slow the machine is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 110_000 } },
    // CDK's own check of a template takes one to three seconds. Two tests in test/stack turn it on again.
    env: { ...environment, CDK_VALIDATION: 'false' },
  },
});

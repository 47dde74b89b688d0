import type { App } from 'aws-cdk-lib';

/**
 * Synthesizes without CDK's own check of the template, which takes one to three seconds of a processor. The
 * check runs in synth.test.ts for the default settings, and in nag.test.ts for every setting.
 */
export function synthUnchecked(app: App): void {
  process.env['CDK_VALIDATION'] = 'false';
  try {
    app.synth();
  } finally {
    delete process.env['CDK_VALIDATION'];
  }
}

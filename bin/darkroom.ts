/**
 * The CDK app: `cdk synth`, `cdk deploy`, each with `-c stage=NAME` for the settings of
 * config/NAME.ts. Needs neither credentials nor a network to synthesize.
 */
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import models from '../catalog/models.json' with { type: 'json' };
import costs from '../catalog/provider-costs.json' with { type: 'json' };
import { catalogSchema, providerCostsSchema } from '../core/catalog-schema.ts';
import { ServiceStack } from '../lib/service-stack.ts';
import { SettingsError } from '../lib/settings.ts';
import { defaultStage, settingsOf } from '../lib/stage-settings.ts';

async function synthesize(): Promise<void> {
  // A price or route that is no good must not be deployed.
  catalogSchema.parse(models);
  providerCostsSchema.parse(costs);
  const app = new App();
  // A finding that no resource gives a reason for stops the synthesis.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stage = (app.node.tryGetContext('stage') as string | undefined) ?? defaultStage;
  new ServiceStack(app, stage === defaultStage ? 'Darkroom' : `Darkroom-${stage}`, { settings: await settingsOf(stage) });
  app.synth();
}

try {
  await synthesize();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/**
 * The CDK app: `cdk synth`, `cdk deploy`, each with `-c stage=NAME` for the settings of
 * config/NAME.ts. Needs neither credentials nor a network to synthesize.
 */
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { SettingsError } from '../lib/settings.ts';
import { defaultStage, settingsOf } from '../lib/stage-settings.ts';
import { CatalogError, readCatalog, readProviderCosts } from '../admin/catalog/catalog-files.ts';
import { REFUSED_INPUT } from '../start/synthesized-template.ts';

async function synthesize(): Promise<void> {
  // A price or route that is no good must not be deployed.
  readCatalog();
  readProviderCosts();
  const app = new App();
  // A finding that no resource gives a reason for stops the synthesis.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stage = (app.node.tryGetContext('stage') as string | undefined) ?? defaultStage;
  const settings = await settingsOf(stage);
  // The stack reads the catalog when it is loaded: only a catalog that is right gets that far.
  const { ServiceStack } = await import('../lib/service-stack.ts');
  new ServiceStack(app, stage === defaultStage ? 'Darkroom' : `Darkroom-${stage}`, { settings });
  app.synth();
}

try {
  await synthesize();
} catch (error) {
  if (!(error instanceof SettingsError) && !(error instanceof CatalogError)) throw error;
  console.error(error.message);
  process.exitCode = REFUSED_INPUT;
}

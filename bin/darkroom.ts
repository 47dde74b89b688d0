/** The CDK app. `-c stage=NAME` selects lib/config/NAME.ts. It needs neither credentials nor a network. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as z from 'zod';
import { CatalogError, readCatalog, readProviderCosts } from '../admin/catalog/catalog-files.ts';
import { writePackage } from '../client/pack.ts';
import { defaultStage, SettingsError, settingsOf, stackOf, forOneMachine } from '../lib/settings.ts';
import { buildPortal } from '../portal/build.ts';
import { buildReference } from '../service/document/reference/build.ts';
import { oneMachineContext, refusedInputCode } from '../start/synthesized-template.ts';

async function synthesize(): Promise<void> {
  // A wrong price or route must not be deployed.
  readCatalog();
  readProviderCosts();
  const app = new App();
  // A finding stops the synthesis, unless the resource gives a reason for it.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stage = z.string().default(defaultStage).parse(app.node.tryGetContext('stage'));
  const stated = await settingsOf(stage);
  const settings = app.node.tryGetContext(oneMachineContext) === true ? forOneMachine(stated) : stated;
  // The module of the stack reads the catalog when it is imported, so after the check.
  const { ServiceStack } = await import('../lib/service-stack.ts');
  const { stackName, terminationProtection } = stackOf(stage);
  const pages = await mkdtemp(join(tmpdir(), 'darkroom-pages-'));
  try {
    // The path of the pages below their host is filled in when they are published.
    await buildPortal(pages, '{base}');
    await buildReference(pages);
    await writePackage(pages);
    new ServiceStack(app, stackName, { settings, pages, terminationProtection });
    app.synth();
  } finally {
    await rm(pages, { recursive: true, force: true });
  }
}

try {
  await synthesize();
} catch (error) {
  if (!(error instanceof SettingsError) && !(error instanceof CatalogError)) throw error;
  console.error(error.message);
  process.exitCode = refusedInputCode;
}

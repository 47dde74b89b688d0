/**
 * The CDK app of the package, which `darkroom deploy` and `darkroom synth` start (admin/deploy/command.ts). The
 * packages of the CDK lie in another folder, so the app makes Node resolve them there.
 */
import { registerHooks } from 'node:module';
import cdk from '../../cdk.json' with { type: 'json' };

const toolchain = process.env['DARKROOM_TOOLCHAIN'];
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      toolchain !== undefined && /^(aws-cdk-lib|constructs)(\/|$)/.test(specifier)
        ? { ...context, parentURL: toolchain }
        : context,
    ),
});

const { App } = await import('aws-cdk-lib');
const { ServiceStack } = await import('../../lib/service-stack.ts');
const { settingsIn, stackNamed } = await import('../../lib/settings.ts');
const app = new App({ context: cdk.context });
const { stackName, ...props } = stackNamed(process.env['DARKROOM_STACK'] ?? '');
const settings = settingsIn(process.env['DARKROOM_SETTINGS']);
// The bundle that publishes the pages holds them already.
new ServiceStack(app, stackName, { settings, pages: '', ...props });
app.synth();

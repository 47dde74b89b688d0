/** The CDK app: `cdk synth`, `cdk deploy`. Needs neither credentials nor a network to synthesize. */
import { App } from 'aws-cdk-lib';
import models from '../catalog/models.json' with { type: 'json' };
import { catalogSchema } from '../core/catalog-schema.ts';
import { ServiceStack } from '../lib/service-stack.ts';

// A price or route that is no good must not be deployed.
catalogSchema.parse(models);

const app = new App();
new ServiceStack(app, 'Darkroom');
app.synth();

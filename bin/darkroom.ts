/** The CDK app: `cdk synth`, `cdk deploy`. Needs neither credentials nor a network to synthesize. */
import { App } from 'aws-cdk-lib';
import { ServiceStack } from '../lib/service-stack.ts';

const app = new App();
new ServiceStack(app, 'Darkroom');
app.synth();

/** A process that loads this module before the CDK app synthesizes no bundles. */
const { CDK_CONTEXT_JSON: context } = process.env;
if (context !== undefined)
  process.env['CDK_CONTEXT_JSON'] = JSON.stringify({
    ...(JSON.parse(context) as object),
    'aws:cdk:bundling-stacks': [],
  });

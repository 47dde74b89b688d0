/** CloudFormation reads a secret again only when the text of its reference changes. */
import { App, Stack } from 'aws-cdk-lib';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { Portal } from '../../lib/portal/portal.ts';
import { parseSettings } from '../../lib/settings.ts';

/** The template of the portal alone, with its distribution by itself. */
function synthesized(originSecretVersion?: string): {
  readonly distribution: string;
  readonly rest: unknown;
} {
  const stack = new Stack(new App(), 'Darkroom');
  new Portal(stack, 'Portal', {
    settings: parseSettings('test', { portal: { originSecretVersion } }).portal,
    httpApi: new HttpApi(stack, 'HttpApi'),
    apiUrl: 'https://api.test',
    origins: { results: 'https://results.test', uploads: 'https://uploads.test' },
  });
  const template = Template.fromStack(stack);
  const named = template.toJSON() as { Resources: Record<string, unknown>; Outputs: Record<string, unknown> };
  const [id = ''] = Object.keys(template.findResources('AWS::CloudFront::Distribution'));
  const { [id]: distribution, ...resources } = named.Resources;
  const { OriginSecretVersion: _, ...outputs } = named.Outputs;
  return {
    distribution: JSON.stringify(distribution),
    rest: { ...named, Resources: resources, Outputs: outputs },
  };
}

const [first, second] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];

it('The template stays the same while the setting portal.originSecretVersion stays the same', () => {
  expect(synthesized()).toEqual(synthesized());
  expect(synthesized(first)).toEqual(synthesized(first));
});

it('Another version changes the header of the distribution, and nothing else', () => {
  const [none, one, two] = [synthesized(), synthesized(first), synthesized(second)];
  expect(one.distribution).toContain(`:SecretString:::${first}}}`);
  expect(none.distribution).toBe(one.distribution.replaceAll(first, ''));
  expect(two.distribution).toBe(one.distribution.replaceAll(first, second));
  expect(two.distribution).not.toBe(one.distribution);
  for (const { rest } of [one, two]) expect(rest).toEqual(none.rest);
});

it.each(['AWSCURRENT', 'short', 'x:y'.repeat(20)])(
  'The version %s is refused with the command that prints one',
  (version) => {
    expect(() => parseSettings('config/x.ts', { portal: { originSecretVersion: version } })).toThrow(
      'portal.originSecretVersion: must be the version that `portal rotate-origin-secret` printed',
    );
  },
);

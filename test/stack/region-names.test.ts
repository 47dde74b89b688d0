/** A bundle knows the regions of AWS, and no description of a region. */
import { describe, expect, it } from 'vitest';
import { bundleText } from '../../lib/bundling/bundle-text.ts';
import { withoutRegionNames } from '../../lib/bundling/region-names.ts';

describe('the regions in a bundle', () => {
  it('A bundle with a client of the AWS SDK has every region and no description', () => {
    const contents = `export { DynamoDBClient } from '@aws-sdk/client-dynamodb';`;
    const text = bundleText({ stdin: { contents, resolveDir: import.meta.dirname } }, false);
    expect(text).toContain('"us-east-2":{}');
    expect(text).not.toContain('US East (Ohio)');
  });

  it('A list of regions in another form is refused', () => {
    const partitions = [
      'node_modules/@aws-sdk/core/dist-es/submodules/client/util-endpoints/lib/aws/partitions.js',
    ];
    expect(() => withoutRegionNames('x', partitions)).toThrow('the AWS SDK describes no region');
    expect(withoutRegionNames('x', ['functions/refund.ts'])).toBe('x');
  });
});

import { describe, expect, it } from 'vitest';
import { providerDefinitionSchema } from '../../core/provider-definition-schema.ts';
import { fieldErrors } from '../../core/field-errors.ts';
import type { ProviderDefinition } from '../../core/provider-definition.ts';

const good: ProviderDefinition = {
  name: 'gpu',
  title: 'Our GPU',
  style: 'vllm-omni',
  baseUrl: 'http://10.0.0.7:8000',
  credential: 'none',
  network: 'private',
  imageHosts: [],
  differences: {},
};

/** The errors of a definition with this change, as "field: message". */
function errorsOf(change: object): readonly string[] {
  const parsed = providerDefinitionSchema.safeParse({ ...good, ...change }, { reportInput: true });
  return parsed.success
    ? []
    : fieldErrors(parsed.error.issues).map(({ field, message }) => `${field}: ${message}`);
}

describe('The schema of a configured provider', () => {
  it('A definition is stored as it was given', () => {
    const whole: ProviderDefinition = {
      ...good,
      network: 'public',
      baseUrl: 'https://gpu.example.com/tenant',
      credential: 'key',
      imageHosts: ['images.example.com'],
      differences: { seed: null, sourceField: 'image[]', billed: 'usage.cost', fixed: { watermark: false } },
    };
    expect(providerDefinitionSchema.parse(whole)).toEqual(whole);
  });

  it('A difference that is undefined is left out', () => {
    const parsed = providerDefinitionSchema.parse({
      ...good,
      differences: { seed: undefined, size: 'tier' },
    });
    expect(Object.keys(parsed.differences)).toEqual(['size']);
  });

  it.each([
    'http://localhost:8000',
    'http://gpu',
    'https://gpu.internal:8443',
    'http://[fd12::7]:8000',
    'http://127.0.0.1:1',
    'http://100.64.0.1',
  ])('With a private network, the base URL may be %s', (baseUrl) => {
    expect(errorsOf({ baseUrl })).toEqual([]);
  });

  it.each<[object, string]>([
    [{ name: 'openai' }, 'name: is the name of a provider that is built in'],
    [{ name: 'sandbox' }, 'name: is the name of a provider that is built in'],
    [{ name: 'G' }, 'name: must have 2 to 32 lower-case letters, digits and hyphens'],
    [{ name: '-gpu' }, 'name: must have 2 to 32 lower-case letters, digits and hyphens'],
    [{ style: 'azure' }, 'style: must be one of "openai", "vllm-omni"'],
    [{ baseUrl: 'gpu' }, 'baseUrl: must be a URL such as https://gpu.example.com'],
    [{ baseUrl: 'ftp://gpu' }, 'baseUrl: must begin with https:// or http://'],
    [{ baseUrl: 'http://me:secret@gpu' }, 'baseUrl: must not contain a user name or password'],
    [{ baseUrl: 'http://gpu/' }, 'baseUrl: must end before the path of the style, without a slash'],
    [{ baseUrl: 'http://gpu?key=1' }, 'baseUrl: must end before the path of the style, without a slash'],
    [{ network: 'public' }, 'baseUrl: must begin with https:// on a public network'],
    [{ network: 'public', baseUrl: 'https://10.0.0.7' }, 'baseUrl: must lead to public addresses only'],
    [{ baseUrl: 'http://169.254.169.254' }, 'baseUrl: must not lead to a link-local address'],
    [{ baseUrl: 'http://[fe80::1]' }, 'baseUrl: must not lead to a link-local address'],
    [{ baseUrl: 'http://[::ffff:169.254.169.254]' }, 'baseUrl: must not lead to a link-local address'],
    [{ baseUrl: 'http://[fd00:ec2::254]' }, 'baseUrl: must not lead to a link-local address'],
    [{ imageHosts: ['Images.example.com'] }, 'imageHosts[0]: must be a host name in lower case'],
    [{ imageHosts: ['10.0.0.1'] }, 'imageHosts[0]: must be a host name in lower case'],
    [{ imageHosts: ['com'] }, 'imageHosts[0]: must be a host name in lower case'],
    [{ differences: { colour: 1 } }, 'differences.colour: not a field of this request'],
    [{ differences: { seed: 'a b' } }, 'differences.seed: must be the name of a field'],
    [{ differences: { editsPath: 'edits' } }, 'differences.editsPath: must be a path such as'],
    [{ differences: { checkPath: '/a/../b?c' } }, 'differences.checkPath: must be a path such as'],
    [{ differences: { size: 'large' } }, 'differences.size: must be one of "pixels"'],
    [{ differences: { billedPerUsd: 0 } }, 'differences.billedPerUsd'],
  ])('The definition with %j is refused with "%s"', (change, error) => {
    expect(errorsOf(change)).toEqual([expect.stringContaining(error)]);
  });
});

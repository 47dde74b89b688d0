/** The schema of a configured provider, for the command. Functions read what the command stored. */
import * as z from 'zod';
import { literalAddress } from '../outbound/client-url.ts';
import { isPublicAddress, isReachableInside } from '../outbound/public-address.ts';
import type { Workflows } from './comfyui-workflow.ts';
import type { ProviderDefinition } from './provider-definition.ts';
import {
  answerMembers,
  editSyntaxes,
  providers,
  qualityRules,
  sizeSyntaxes,
  type Style,
  type StyleDifferences,
  styleNames,
} from './providers.ts';

const field = z.string().regex(/^[A-Za-z_][\w[\]-]{0,63}$/, 'must be the name of a field');
const path = z.string().regex(/^(\/[\w.~-]+)+$/, 'must be a path such as /v1/images/generations');
const hostName = z
  .string()
  .regex(/^(?=.{1,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z]([a-z\d-]{0,61}[a-z\d])?$/, {
    error: 'must be a host name in lower case, such as images.example.com',
  });

const style = z.strictObject({
  generationsPath: path,
  editsPath: path,
  checkPath: path.nullable(),
  size: z.enum(sizeSyntaxes),
  answer: z.enum(answerMembers),
  edits: z.enum(editSyntaxes),
  sourceField: field,
  seed: field.nullable(),
  negativePrompt: field.nullable(),
  background: field.nullable(),
  mask: field.nullable(),
  quality: z.enum(qualityRules),
  outputFormat: field.nullable(),
  moderation: field.nullable(),
  billed: z
    .string()
    .regex(/^[a-z_][\w-]*(\.[a-z_]\w*){0,3}$/i, 'must be a member such as usage.cost')
    .nullable(),
  billedPerUsd: z.number().positive(),
  fixed: z.record(field, z.union([z.string().max(200), z.number(), z.boolean()])),
} satisfies Record<keyof Style, z.ZodType>);

export const providerDefinitionSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z\d-]{0,30}[a-z\d]$/, 'must have 2 to 32 lower-case letters, digits and hyphens')
      .refine((name) => !Object.hasOwn(providers, name), 'is the name of a provider that is built in'),
    title: z.string().trim().min(1).max(60),
    style: z.enum(styleNames),
    baseUrl: z.string().max(500),
    credential: z.enum(['key', 'none']),
    network: z.enum(['public', 'private']),
    imageHosts: z.array(hostName).max(20),
    differences: style.partial().transform(withoutAbsent),
    workflows: z.custom<Workflows>((value) => typeof value === 'object' && value !== null).optional(),
  })
  .transform(({ workflows, ...rest }): ProviderDefinition => ({ ...rest, ...(workflows && { workflows }) }))
  .superRefine(({ style: name, workflows, differences }, context) => {
    const wrong = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (name === 'comfyui' && !workflows) wrong('workflows', 'is needed by the style comfyui');
    if (name !== 'comfyui' && workflows) wrong('workflows', 'is for the style comfyui');
    if (name === 'comfyui' && Object.keys(differences).length > 0)
      wrong('differences', 'has nothing to change in the style comfyui');
  })
  .superRefine(({ baseUrl, network }, context) => {
    const why = baseUrlProblem(baseUrl, network);
    if (why !== undefined) context.addIssue({ code: 'custom', path: ['baseUrl'], message: why });
  });

/** Why the address cannot be the base URL of a provider. Undefined when it can. */
function baseUrlProblem(text: string, network: ProviderDefinition['network']): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://gpu.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.search !== '' || url.hash !== '' || text.endsWith('/'))
    return 'must end before the path of the style, without a slash';
  if (network === 'public' && url.protocol !== 'https:')
    return 'must begin with https:// on a public network';
  const address = literalAddress(url);
  if (address === undefined || isPublicAddress(address)) return undefined;
  if (network === 'public') return 'must lead to public addresses only';
  return isReachableInside(address) ? undefined : 'must not lead to a link-local address';
}

/** A field that is absent keeps the value of the style. */
function withoutAbsent(given: z.infer<ReturnType<typeof style.partial>>): StyleDifferences {
  const present: Partial<Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) present[name] = value;
  return present;
}
